// A mounted file of external ids (.gi): those of the nodes of one type, for a dataset of many.
//
// Opening checks the header and the section table; `NodeIds` reads the ids, and checks what it
// follows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "graphmount/format/mount.hpp"

namespace graphmount {

class NodeIdFile {
 public:
  /// Throws FormatError, IoError.
  explicit NodeIdFile(std::shared_ptr<MappedFile> file);

  const Mount& mount() const { return mount_; }
  std::uint64_t num_nodes() const { return mount_.header().num_rows; }

 private:
  Mount mount_;
};

/// Throws FormatError unless the sections of external ids are complete, for so many nodes, or not
/// there at all. Returns whether they are there.
bool check_node_id_sections(const Mount& mount, std::uint64_t num_nodes);

}  // namespace graphmount
