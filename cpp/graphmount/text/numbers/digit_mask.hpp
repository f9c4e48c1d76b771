// Which of 32 or 64 characters are no digits, all at once: that is where numbers end.
//
// With SSE2 where there is SSE2, which is on every x86-64, else eight characters at a time in a
// machine word.
#pragma once

#include <cstdint>
#include <cstring>

#include "graphmount/text/numbers/integer.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace graphmount {

inline constexpr std::size_t kDigitMaskBytes = 32;
inline constexpr std::size_t kLongMaskBytes = 64;

/// Bit i is set if text[i] is no digit; eight characters, in a machine word.
inline std::uint32_t other_than_digits_in_word(const char* text) {
  const std::uint64_t word = load_characters(text) ^ 0x3030303030303030;
  // Nothing is carried from byte to byte.
  const std::uint64_t others =
      (((word & 0x7F7F7F7F7F7F7F7F) + 0x7676767676767676) | word) & 0x8080808080808080;
  // One multiplication brings the eight highest bits together.
  return static_cast<std::uint32_t>(((others >> 7) * 0x0102040810204080) >> 56);
}

/// Bit i is set if text[i] is no digit; kDigitMaskBytes characters, all of which must be readable.
inline std::uint32_t other_than_digits(const char* text) {
#ifdef __SSE2__
  const auto digits_of_16 = [](const char* start) {
    const __m128i characters = _mm_loadu_si128(reinterpret_cast<const __m128i*>(start));
    // Digits become the ten least of all signed bytes.
    const __m128i values = _mm_sub_epi8(characters, _mm_set1_epi8('0' - 128));
    const __m128i digits = _mm_cmplt_epi8(values, _mm_set1_epi8(10 - 128));
    return static_cast<std::uint32_t>(_mm_movemask_epi8(digits));
  };
  return ~(digits_of_16(text) | digits_of_16(text + 16) << 16);
#else
  return other_than_digits_in_word(text) | other_than_digits_in_word(text + 8) << 8 |
         other_than_digits_in_word(text + 16) << 16 | other_than_digits_in_word(text + 24) << 24;
#endif
}

/// Bit i is set if text[i] is no digit; kLongMaskBytes characters, all of which must be readable.
inline std::uint64_t other_than_digits_of_64(const char* text) {
  return other_than_digits(text) | std::uint64_t{other_than_digits(text + kDigitMaskBytes)}
                                       << kDigitMaskBytes;
}

}  // namespace graphmount
