// Columns of external ids: the integers or strings by which a source knows its nodes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graphmount/base/checksum.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/base/random.hpp"

namespace graphmount {

/// Strings one after the other: string i goes from offsets[i] to offsets[i + 1].
struct NameColumn {
  std::span<const std::int64_t> offsets;
  std::span<const char> bytes;

  bool empty() const { return offsets.size() < 2; }
  std::uint64_t size() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  std::string_view operator[](std::size_t i) const {
    return {bytes.data() + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }
};

/// Such a column with memory of its own.
struct OwnedNames {
  std::vector<std::int64_t> offsets = {0};
  std::vector<std::uint8_t> bytes{};

  void push_back(std::string_view name) {
    bytes.insert(bytes.end(), name.begin(), name.end());
    offsets.push_back(static_cast<std::int64_t>(bytes.size()));
  }
  NameColumn column() const {
    return {offsets, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
  }
};

/// Hashes of ids. The tables in files are made with them (docs/format.md), so they are part of the
/// format. That of a number is a bijection that spreads numbers which differ little (one step of
/// SplitMix64).
inline std::uint64_t hash_number(std::int64_t key) {
  return mix_bits(static_cast<std::uint64_t>(key) + kSplitMixStep);
}
inline std::uint64_t hash_name(std::string_view key) {
  return xxh64(std::as_bytes(std::span(key)));
}

/// How messages show an id.
inline std::string show_id(std::int64_t number) {
  return std::to_string(number);
}
inline std::string show_id(std::string_view name) {
  return say("'", name, "'");
}

/// External ids on their way into a file: all but one of these are empty, or all of them for a
/// graph that has none.
struct ExternalIds {
  std::span<const std::int64_t> numbers;
  NameColumn names;
  std::span<const std::uint32_t> narrow_numbers{};  // where 4 bytes are enough for each

  bool empty() const { return size() == 0; }
  std::uint64_t size() const {
    if (!names.empty()) return names.size();
    return narrow_numbers.empty() ? numbers.size() : narrow_numbers.size();
  }
  std::int64_t number(std::size_t node) const {
    return narrow_numbers.empty() ? numbers[node] : std::int64_t{narrow_numbers[node]};
  }

  std::uint64_t hash(std::size_t node) const {
    return names.empty() ? hash_number(number(node)) : hash_name(names[node]);
  }
  bool are_equal(std::size_t a, std::size_t b) const {
    return names.empty() ? number(a) == number(b) : names[a] == names[b];
  }
  std::string show(std::size_t node) const {
    return names.empty() ? show_id(number(node)) : show_id(names[node]);
  }

  /// Calls use(span of int64) for all numbers, in order, a piece at a time.
  template <class Use>
  void for_each_numbers(const Use& use) const {
    if (narrow_numbers.empty()) return use(numbers);
    std::array<std::int64_t, 4096> piece;
    for (std::size_t first = 0; first < narrow_numbers.size(); first += piece.size()) {
      const auto some =
          narrow_numbers.subspan(first, std::min(piece.size(), narrow_numbers.size() - first));
      std::ranges::copy(some, piece.begin());
      use(std::span<const std::int64_t>(piece.data(), some.size()));
    }
  }
};

}  // namespace graphmount
