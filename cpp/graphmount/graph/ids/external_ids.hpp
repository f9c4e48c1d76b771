// Columns of external ids: the integers or strings by which a source knows its nodes.
#pragma once

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

/// External ids on their way into a file: one of the two is empty, both are for a graph without.
struct ExternalIds {
  std::span<const std::int64_t> numbers;
  NameColumn names;

  bool empty() const { return numbers.empty() && names.empty(); }
  std::uint64_t size() const { return names.empty() ? numbers.size() : names.size(); }

  std::uint64_t hash(std::size_t node) const {
    return names.empty() ? hash_number(numbers[node]) : hash_name(names[node]);
  }
  bool are_equal(std::size_t a, std::size_t b) const {
    return names.empty() ? numbers[a] == numbers[b] : names[a] == names[b];
  }
  std::string show(std::size_t node) const {
    return names.empty() ? show_id(numbers[node]) : show_id(names[node]);
  }
};

}  // namespace graphmount
