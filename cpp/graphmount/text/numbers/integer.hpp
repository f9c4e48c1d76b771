// Integers out of text, eight digits at a time.
//
// A machine word takes eight characters, and a few operations on it tell how many of them are
// digits and what number those make, without a branch. All functions read up to eight bytes behind
// the number, which must be readable; what is there makes no difference.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace graphmount {

inline constexpr std::uint64_t kPowersOfTen[] = {
    1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000,
};

/// Some digits: the number they make, and how many they are.
struct Digits {
  std::uint64_t value;
  std::size_t count;
};

/// Eight characters, the first of which is the lowest byte: machines are little-endian
/// (format.cpp).
inline std::uint64_t load_characters(const char* text) {
  std::uint64_t word;
  std::memcpy(&word, text, sizeof word);
  return word;
}

/// The number that the lowest `bits` of a word make, each byte of which is the value of a digit.
/// There must be one digit at least.
inline std::uint64_t number_of_digits(std::uint64_t word, std::size_t bits) {
  // The digits move up, and zeros take the place of leading ones.
  word <<= 64 - bits;
  // Two digits make a number below 100, two of those one below 10000, and so on.
  word = (word * 10 + (word >> 8)) & 0x00FF00FF00FF00FF;
  word = (word * 100 + (word >> 16)) & 0x0000FFFF0000FFFF;
  return (word * 10000 + (word >> 32)) & 0x00000000FFFFFFFF;
}

/// The number that `count` digits at `text` make; 1 to 16 of them.
inline std::uint64_t number_at(const char* text, std::size_t count) {
  const std::uint64_t word = load_characters(text) ^ 0x3030303030303030;
  if (count <= 8) [[likely]]
    return number_of_digits(word, 8 * count);
  const std::uint64_t rest = load_characters(text + 8) ^ 0x3030303030303030;
  return number_of_digits(word, 64) * kPowersOfTen[count - 8] +
         number_of_digits(rest, 8 * (count - 8));
}

/// The first digits at `text`, at most eight.
inline Digits read_eight_digits(const char* text) {
  // A digit becomes its value, all else becomes 10 or more, which the addition shows in the highest
  // bit. A carry out of a byte disturbs only bytes behind the first that is no digit.
  const std::uint64_t word = load_characters(text) ^ 0x3030303030303030;
  const std::uint64_t others = ((word + 0x7676767676767676) | word) & 0x8080808080808080;
  if ((others & 0x80) != 0) [[unlikely]]
    return {0, 0};
  // One byte lower, with a mark behind the last, so that eight digits are no special case: whether
  // there are seven or eight is nothing a processor could guess.
  const std::uint64_t ends = others >> 8 | std::uint64_t{1} << 63;
  const auto bits = static_cast<std::size_t>(std::countr_zero(ends)) + 1;
  return {number_of_digits(word, bits), bits / 8};
}

/// All digits at `text`. More than 19 do not always fit, and leave the value arbitrary.
inline Digits read_digits(const char* text) {
  Digits digits = read_eight_digits(text);
  std::size_t last = digits.count;
  while (last == 8) {
    const Digits more = read_eight_digits(text + digits.count);
    if (more.count == 0) break;
    last = more.count;
    digits.value = digits.value * kPowersOfTen[last] + more.value;
    digits.count += last;
  }
  return digits;
}

inline bool is_digit(char c) {
  return static_cast<unsigned char>(c - '0') < 10;
}

/// Reads an integer of any sign at `text`: digits, with a minus before them or not. Returns where
/// it ends, or nullptr if there is none or int64 cannot hold it.
inline const char* read_integer(const char* text, std::int64_t& value) {
  const bool is_negative = *text == '-';
  text += is_negative;
  Digits digits = read_digits(text);
  const char* const end = text + digits.count;
  if (digits.count > 19) {
    // Zeros in front of the last digit say nothing.
    while (*text == '0' && text + 1 != end) ++text;
    digits = read_digits(text);
  }
  const std::uint64_t limit = static_cast<std::uint64_t>(INT64_MAX) + is_negative;
  if (digits.count == 0 || digits.count > 19 || digits.value > limit) return nullptr;
  value = static_cast<std::int64_t>(is_negative ? 0 - digits.value : digits.value);
  return end;
}

/// Reads an integer without a sign, as `read_integer` does; faster for up to 16 digits.
inline const char* read_unsigned(const char* text, std::int64_t& value) {
  Digits digits = read_eight_digits(text);
  if (digits.count == 0) return nullptr;
  if (is_digit(text[digits.count])) [[unlikely]] {
    const Digits more = read_eight_digits(text + 8);
    digits.value = digits.value * kPowersOfTen[more.count] + more.value;
    digits.count += more.count;
    if (is_digit(text[digits.count])) return read_integer(text, value);
  }
  value = static_cast<std::int64_t>(digits.value);
  return text + digits.count;
}

}  // namespace graphmount
