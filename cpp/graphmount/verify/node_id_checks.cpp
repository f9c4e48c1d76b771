// The rules about external node ids: names that are text, all ids different, each node where the
// hash of its id leads.
//
// The table is checked as it is made, slice by slice with passes over the ids in order, so that a
// file larger than memory is read from end to end and not here and there.
#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

#include "graphmount/base/error.hpp"
#include "graphmount/base/read_once.hpp"
#include "graphmount/base/utf8.hpp"
#include "graphmount/graph/ids/node_id_table.hpp"
#include "graphmount/system/memory/buffer.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "graphmount/verify/verifier.hpp"

namespace graphmount {
namespace {

class NodeIdVerifier {
 public:
  NodeIdVerifier(const Mount& mount, std::uint64_t num_nodes, Verifier& verifier)
      : mount_(mount), num_nodes_(num_nodes), verifier_(verifier) {}

  void run() {
    const Header& header = mount_.header();
    for (const SectionKind kind :
         {SectionKind::kNodeIds, SectionKind::kNodeNameOffsets, SectionKind::kNodeNameBytes})
      if (const Section* section = header.find(kind)) verifier_.check_section(*section, nullptr);
    const bool are_names_fine =
        header.find(SectionKind::kNodeNameOffsets) == nullptr || check_names();
    if (const Section* numbers = header.find(SectionKind::kNodeIds))
      numbers_ = mount_.data<std::int64_t>(*numbers);
    const Section* table = header.find(SectionKind::kNodeIdTable);
    if (table == nullptr) return;
    mount_.with_integers(*table,
                         [&](const auto* nodes) { check_table(*table, nodes, are_names_fine); });
  }

 private:
  std::string_view name_of(std::uint64_t node) const {
    const Header& header = mount_.header();
    const Section& bytes = *header.find(SectionKind::kNodeNameBytes);
    const auto* offsets = mount_.data<std::int64_t>(*header.find(SectionKind::kNodeNameOffsets));
    const auto begin = static_cast<std::uint64_t>(read_once(offsets + node));
    const auto end = static_cast<std::uint64_t>(read_once(offsets + node + 1));
    if (begin > end || end > bytes.rows) return {};  // the file is being overwritten
    return {mount_.data<char>(bytes) + begin, static_cast<std::size_t>(end - begin)};
  }

  bool check_names() {
    const Header& header = mount_.header();
    const Section& section = *header.find(SectionKind::kNodeNameOffsets);
    const Section& bytes = *header.find(SectionKind::kNodeNameBytes);
    const auto* offsets = mount_.data<std::int64_t>(section);
    for (std::uint64_t node = 0; node <= num_nodes_; ++node) {
      const std::int64_t least = node == 0 ? 0 : offsets[node - 1];
      const bool is_end_right = node < num_nodes_
                                    ? static_cast<std::uint64_t>(offsets[node]) <= bytes.rows
                                    : static_cast<std::uint64_t>(offsets[node]) == bytes.rows;
      if (offsets[node] >= least && is_end_right && (node > 0 || offsets[0] == 0)) continue;
      verifier_.report(section, node,
                       say("offset ", offsets[node], " of name ", node, " is out of order"));
      return false;
    }
    constexpr std::uint64_t kGrain = 1 << 14;
    parallel_each(num_nodes_, kGrain, [&](std::uint64_t node) {
      if (node % kGrain == 0) verifier_.tick();
      if (!is_utf8(name_of(node)))
        verifier_.report(bytes, static_cast<std::uint64_t>(offsets[node]),
                         say("the name of node ", node, " is not valid UTF-8"));
    });
    return true;
  }

  std::uint64_t hash_of(std::uint64_t node) const {
    return numbers_ != nullptr ? hash_number(numbers_[node]) : hash_name(name_of(node));
  }
  bool are_equal(std::uint64_t a, std::uint64_t b) const {
    return numbers_ != nullptr ? numbers_[a] == numbers_[b] : name_of(a) == name_of(b);
  }

  template <class Slot>
  void check_table(const Section& table, const Slot* nodes, bool can_follow_ids) {
    verifier_.check_section(table, [&](std::uint64_t begin, std::uint64_t end) {
      const Slot* bad = std::find_if(nodes + begin, nodes + end,
                                     [&](Slot node) { return node != -1 && !exists(node); });
      if (bad != nodes + end)
        verifier_.report(table, static_cast<std::uint64_t>(bad - nodes),
                         say("node ", *bad, " does not exist"));
    });
    if (!can_follow_ids) return;
    const auto slices = cut_slots(IdSlots(table.rows), kTableMemory / sizeof(std::uint64_t));
    parallel_each(slices.size(), 1, [&](std::size_t i) { check_slice(table, nodes, slices[i]); });
  }

  // Every node is looked up, and leaves its hash in the slot where it is. If it meets an equal hash
  // on the way, the ids are compared. At the end, a slot without a hash holds something that does
  // not belong there. The first problem of each group is reported.
  template <class Slot>
  void check_slice(const Section& table, const Slot* nodes, SlotRange slice) {
    const IdSlots slots(table.rows);
    Buffer<std::uint64_t> hashes(static_cast<std::size_t>(slice.end - slice.begin));
    std::fill_n(hashes.data(), hashes.size(), 0);
    const auto hash_in = [&](std::uint64_t slot) -> std::uint64_t& {
      return hashes[static_cast<std::size_t>(slot - slice.begin)];
    };
    std::vector<bool> has_problem(hashes.size() / slots.group_size());
    const auto is_reported = [&](std::uint64_t slot) {
      return has_problem[static_cast<std::size_t>((slot - slice.begin) / slots.group_size())];
    };
    const auto report = [&](std::uint64_t slot, const std::string& message) {
      is_reported(slot) = true;
      verifier_.report(table, slot, message);
    };
    const auto look = [&](std::uint64_t node, std::uint64_t hash) {
      const std::uint64_t mark = hash | 1;  // 0 is for slots that nobody has found
      const std::uint64_t home = slots.home(hash);
      if (is_reported(home)) return;
      std::uint64_t slot = home;
      bool is_found = false;
      do {
        const Slot other = read_once(nodes + slot);
        if (other == -1) break;
        if (static_cast<std::uint64_t>(other) == node && !is_found) {
          is_found = true;
          hash_in(slot) = mark;
        } else if (hash_in(slot) == mark && exists(other) &&
                   are_equal(node, static_cast<std::uint64_t>(other))) {
          return report(slot, say("nodes ", other, " and ", node, " have the same external id"));
        }
        slot = slots.next(slot);
      } while (slot != home);
      if (!is_found)
        report(home, say("the external id of node ", node, " leads here, but not on to the node"));
    };
    for_each_at_home(
        num_nodes_, slots, slice, [&](std::uint64_t node) { return hash_of(node); },
        [&](std::uint64_t home) {
          __builtin_prefetch(nodes + home);
          __builtin_prefetch(&hash_in(home), 1);
        },
        look, [&] { verifier_.tick(); });
    for (std::uint64_t slot = slice.begin; slot < slice.end; ++slot)
      if (nodes[slot] != -1 && hash_in(slot) == 0 && exists(nodes[slot]) && !is_reported(slot))
        report(slot, say("node ", nodes[slot], " is not where its external id leads"));
  }

  template <class Slot>
  bool exists(Slot node) const {
    return static_cast<std::uint64_t>(node) < num_nodes_;
  }

  const Mount& mount_;
  const std::uint64_t num_nodes_;
  Verifier& verifier_;
  const std::int64_t* numbers_ = nullptr;  // the ids, if they are no names
};

}  // namespace

void verify_node_ids(const Mount& mount, std::uint64_t num_nodes, Verifier& verifier) {
  NodeIdVerifier(mount, num_nodes, verifier).run();
}

}  // namespace graphmount
