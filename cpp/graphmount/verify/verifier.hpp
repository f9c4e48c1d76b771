// What the checks of this room share: checksums chunk by chunk, the list of problems,
// progress. Not for use elsewhere.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "graphmount/graph/graph.hpp"
#include "graphmount/verify/verify.hpp"

namespace graphmount {

class Verifier {
 public:
  Verifier(const Mount& mount, const Progress& progress);

  /// Notes a problem with item number `item` of a section. May be called from any thread.
  void report(const Section& section, std::uint64_t item, const std::string& message);
  void report_at(const std::string& section, std::uint64_t offset, const std::string& message);

  /// Compares the checksums of the chunks that hold items [begin, end). Each item is to be asked
  /// for once; `begin` lies on a chunk boundary.
  void check_chunks(const Section& section, std::uint64_t begin, std::uint64_t end);

  /// Checks the checksums of a whole section, calling check(begin, end) for the items of each chunk
  /// right after, while they are in the processor's cache.
  void check_section(const Section& section,
                     const std::function<void(std::uint64_t, std::uint64_t)>& check);

  void check_padding();

  /// Lets Ctrl-C through during work that is not counted in bytes.
  void tick();

  /// Whether this section has no problems so far.
  bool is_sound(const Section& section) const;

  Verification result();

 private:
  const Mount& mount_;
  const Progress& progress_;
  const std::uint64_t* checksums_;
  std::uint64_t bytes_to_check_ = 0;
  std::atomic<std::uint64_t> bytes_checked_ = 0;
  std::thread::id caller_;
  mutable std::mutex mutex_;
  Verification verification_;
  std::set<std::string> unsound_;  // names of sections with a problem
};

/// Check the sections of a graph other than the checksums. The second checks external ids, which
/// may also be in a file of their own.
void verify_graph(const Graph& graph, Verifier& verifier);
void verify_node_ids(const Mount& mount, std::uint64_t num_nodes, Verifier& verifier);

}  // namespace graphmount
