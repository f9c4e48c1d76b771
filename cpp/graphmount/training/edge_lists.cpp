#include "graphmount/training/edge_lists.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "graphmount/base/checksum.hpp"
#include "graphmount/base/error.hpp"

namespace graphmount {

EdgeLists::EdgeLists(std::span<const std::int64_t> starts, std::span<const std::int64_t> others,
                     std::uint64_t num_others)
    : starts_(starts), others_(others), num_others_(num_others) {
  if (starts.empty()) throw std::invalid_argument("the starts of lists need an end, too");
}

void EdgeLists::refuse(std::size_t list) {
  throw std::invalid_argument(
      say("list ", list, " ends before it begins, or after the last of the entries"));
}

bool are_sound(const EdgeLists& lists) {
  // Without branches inside, so that the compiler uses vectors: nearly all lists are sound.
  if (lists.start(0) != 0 || lists.start(lists.size()) != lists.num_entries()) return false;
  bool is_sound = true;
  for (std::size_t list = 0; list < lists.size(); ++list)
    is_sound &= lists.start(list) <= lists.start(list + 1);
  for (std::size_t place = 0; place < lists.num_entries(); ++place)
    is_sound &= lists.glance(place) < lists.num_others();
  return is_sound;
}

void turn_round(const EdgeLists& lists, std::span<std::int64_t> starts,
                std::span<std::int64_t> owners, std::span<std::int64_t> places) {
  if (starts.empty() || starts.size() - 1 != lists.num_others() ||
      owners.size() != lists.num_entries() || places.size() != lists.num_entries())
    throw std::invalid_argument("the lists need a start for each row, and a place for each entry");
  // A copy: the second pass must find what the first has counted.
  std::vector<std::uint64_t> others(lists.num_entries());
  std::vector<std::uint64_t> next(lists.num_others() + 1, 0);
  for (std::size_t place = 0; place < others.size(); ++place)
    ++next[(others[place] = lists.other(place)) + 1];
  for (std::size_t row = 1; row < next.size(); ++row) next[row] += next[row - 1];
  std::copy(next.begin(), next.end(), starts.begin());
  std::size_t done = 0;
  for (std::size_t list = 0; list < lists.size(); ++list) {
    const EdgeLists::Range range = lists.range(list);
    if (range.begin != done)
      throw std::invalid_argument(say("list ", list, " does not begin where the last has ended"));
    for (; done < range.end; ++done) {
      const std::uint64_t at = next[others[done]]++;
      owners[at] = static_cast<std::int64_t>(list);
      places[at] = static_cast<std::int64_t>(done);
    }
  }
  if (done != others.size())
    throw std::invalid_argument(say("the lists have ", done, " of ", others.size(), " entries"));
}

std::uint64_t fingerprint(const EdgeLists& lists) {
  Xxh64 hash;
  hash.add(std::as_bytes(lists.starts()));
  hash.add(std::as_bytes(lists.others()));
  return hash.hash();
}

std::size_t add_self_loops(const EdgeLists& lists, std::span<std::int64_t> starts,
                           std::span<std::int64_t> others) {
  if (starts.size() != lists.size() + 1 || others.size() != lists.num_entries() + lists.size())
    throw std::invalid_argument("there must be room for one entry more in each list");
  if (lists.num_others() < lists.size())
    throw std::invalid_argument(say("there are ", lists.num_others(), " rows for ", lists.size(),
                                    " lists: not each has a row of its own"));
  std::size_t next = 0;
  for (std::size_t list = 0; list < lists.size(); ++list) {
    const EdgeLists::Range range = lists.range(list);
    if (range.end - range.begin + 1 > others.size() - next)
      throw std::invalid_argument(say("list ", list, " has entries that are in others, too"));
    starts[list] = static_cast<std::int64_t>(next);
    others[next++] = static_cast<std::int64_t>(list);
    for (std::size_t place = range.begin; place < range.end; ++place)
      if (const std::size_t other = lists.other(place); other != list)
        others[next++] = static_cast<std::int64_t>(other);
  }
  starts[lists.size()] = static_cast<std::int64_t>(next);
  return next;
}

}  // namespace graphmount
