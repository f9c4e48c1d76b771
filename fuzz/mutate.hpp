// Changes to a file, made where they matter: in the fields of the header, in the section table and
// in the first items of a section, rarely in the padding that is most of a small file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

#include "forged_file.hpp"

namespace graphmount::fuzz {

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  void mutate(testing::Bytes& bytes) {
    for (std::uint64_t changes = 1 + below(4); changes > 0; --changes) change(bytes);
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return limit == 0 ? 0 : random_() % limit; }

  // Values around which comparisons and sums go wrong.
  std::uint64_t interesting(std::uint64_t old) {
    constexpr std::uint64_t kValues[] = {0,
                                         1,
                                         2,
                                         5,
                                         6,
                                         7,
                                         63,
                                         64,
                                         4096,
                                         65535,
                                         65536,
                                         131072,
                                         1 << 20,
                                         INT32_MAX,
                                         1u << 31,
                                         UINT32_MAX,
                                         INT64_MAX,
                                         std::uint64_t{1} << 63,
                                         UINT64_MAX - 65535,
                                         UINT64_MAX};
    switch (below(5)) {
      case 0:
        return kValues[below(std::size(kValues))];
      case 1:
        return old + 1 + below(4);
      case 2:
        return old - 1 - below(4);
      case 3:
        return old ^ std::uint64_t{1} << below(64);
      default:
        return random_() >> below(64);
    }
  }

  std::uint64_t num_sections(const testing::Bytes& bytes) {
    if (bytes.size() < kHeaderBytes) return 0;
    return std::min<std::uint64_t>(testing::get<std::uint32_t>(bytes, testing::kNumSectionsAt),
                                   kMaxSections);
  }

  std::uint64_t choose_place(const testing::Bytes& bytes) {
    const std::uint64_t sections = num_sections(bytes);
    switch (below(8)) {
      case 0:
        return below(80);
      case 1:
      case 2:
        return 256 + 64 * below(sections + 1) + 2 * below(32);
      case 3:
        return below(bytes.size());
      default: {
        const testing::EntryAt entry(below(sections));
        if (bytes.size() < kHeaderBytes) return 0;
        const auto length = std::min<std::uint64_t>(testing::get<std::uint64_t>(bytes, entry.bytes),
                                                    below(10) == 0 ? UINT64_MAX : 200);
        const std::uint64_t items = below(length) / 4 * 4;
        return testing::get<std::uint64_t>(bytes, entry.offset) + items;
      }
    }
  }

  void change(testing::Bytes& bytes) {
    const std::uint64_t kind = below(40);
    if (kind == 0) return bytes.resize(below(bytes.size() + 1));
    if (kind == 1) return bytes.resize(bytes.size() + below(2) * 65536 + below(9));
    if (kind == 2) return copy_entry(bytes);
    const std::uint64_t at = choose_place(bytes);
    if (at >= bytes.size()) return;
    const std::uint64_t width =
        std::min<std::uint64_t>(std::uint64_t{1} << below(4), bytes.size() - at);
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, width);
    value = interesting(value);
    std::memcpy(bytes.data() + at, &value, width);
  }

  // One section in the place of another, or as another.
  void copy_entry(testing::Bytes& bytes) {
    const std::uint64_t sections = num_sections(bytes);
    if (sections == 0) return;
    const testing::EntryAt from(below(sections)), to(below(std::min(sections + 1, kMaxSections)));
    const std::uint64_t skip = below(2) * 6;  // with its name or without
    const testing::Bytes entry(bytes.begin() + static_cast<std::ptrdiff_t>(from.begin + skip),
                               bytes.begin() + static_cast<std::ptrdiff_t>(from.begin + 64));
    std::copy(entry.begin(), entry.end(),
              bytes.begin() + static_cast<std::ptrdiff_t>(to.begin + skip));
  }

  std::mt19937_64 random_;
};

}  // namespace graphmount::fuzz
