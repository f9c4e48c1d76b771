// The checksum against values of the reference implementation (the xxhash package of Python).
#include <algorithm>
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "graphmount/base/checksum.hpp"

using namespace graphmount;

namespace {

std::vector<std::byte> pattern(std::size_t length) {
  std::vector<std::byte> bytes(length);
  for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<std::byte>(i * 7 + 3);
  return bytes;
}

struct Known {
  std::size_t length;
  std::uint64_t hash;
};

// Around each length at which the algorithm takes another way: 4, 8 and 32 bytes.
constexpr Known kKnown[] = {
    {0, 0xEF46DB3751D8E999},    {1, 0x1F25C8D0BC1F4BB6},      {3, 0x31D2363F52E564C9},
    {4, 0x9BB64B7D66EE9FDA},    {5, 0xC7608EFDDB7051FE},      {7, 0x9A7B149959CE60D8},
    {8, 0xDAB99D95C6F90092},    {9, 0x170BB6BF975B4C02},      {11, 0x7A52CC9457CF1A1F},
    {12, 0xD52E407833AF5133},   {15, 0x1B47CB8243CC8E32},     {16, 0x434850232B787BE2},
    {31, 0xA2AA5F33CC4A6119},   {32, 0x23C3C17EF790FD97},     {33, 0x50A7CFC7BA588784},
    {39, 0x880BBEEA606E4B37},   {40, 0xB620306B253D76B6},     {63, 0x5E3E54B431C7493C},
    {64, 0x0EB64B3EF6EEB01F},   {65, 0xA383B724B2BD12F1},     {77, 0xC4E0603B2473C094},
    {96, 0x3101A958DE582E18},   {99, 0x06A08EB098AFA2C3},     {100, 0xA61F8D4C170FE531},
    {4088, 0xCC94EC490919C556}, {131072, 0x92613613FC489F44},
};

}  // namespace

TEST(matches_the_reference) {
  for (const Known& known : kKnown) CHECK_EQUAL(xxh64(pattern(known.length)), known.hash);
}

TEST(matches_the_reference_at_every_length) {
  // The hash of the hashes of all lengths from 0 to 1000.
  std::vector<std::uint64_t> hashes;
  for (std::size_t length = 0; length <= 1000; ++length) hashes.push_back(xxh64(pattern(length)));
  CHECK_EQUAL(xxh64(std::as_bytes(std::span(hashes))), 0xE8F16351AEC41514);
}

TEST(does_not_depend_on_alignment) {
  const auto bytes = pattern(100);
  for (std::size_t shift = 0; shift < 9; ++shift) {
    std::vector<std::byte> moved(shift);
    moved.insert(moved.end(), bytes.begin(), bytes.end());
    CHECK_EQUAL(xxh64(std::span(moved).subspan(shift)), 0xA61F8D4C170FE531);
  }
}

TEST(pieces_of_any_length_have_the_hash_of_the_whole) {
  for (std::size_t length = 0; length <= 200; ++length) {
    const auto bytes = pattern(length);
    for (const std::size_t piece : {1, 3, 8, 31, 32, 33, 64, 100}) {
      Xxh64 hash;
      for (std::size_t at = 0; at < length; at += piece) {
        hash.add(std::span(bytes).subspan(at, std::min(piece, length - at)));
        CHECK_EQUAL(hash.hash(), xxh64(std::span(bytes).first(std::min(at + piece, length))));
      }
      hash.add({});
      CHECK_EQUAL(hash.hash(), xxh64(bytes));
    }
  }
}
