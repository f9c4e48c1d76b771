// Runs of decimal fractions taken apart, by AVX-512: digits without what is between them, and where
// points and delimiters were. The first half of `fraction_run_avx512`.
#pragma once

#include <immintrin.h>

#include <bit>
#include <cstddef>
#include <cstdint>

// For single functions, not for the file: what it shares with others must run on any machine.
#define GRAPHMOUNT_AVX512 \
  __attribute__((         \
      target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt")))

namespace graphmount::avx512 {

inline constexpr std::size_t kBlockBytes = 64;
inline constexpr std::size_t kMostListed = 128;

// Numbers taken apart: their digits, without anything between them, and their marks. Vectors may be
// stored at the last entry of each list.
struct ListedNumbers {
  // Positions of points and ends, in turns, behind that of the end before all. Their lowest seven
  // bits, which is enough, as there is a mark in each block. The eighth tells whether a minus
  // follows.
  unsigned char marks_before[2 * kMostListed + 2 * kBlockBytes];
  unsigned char digits[2 * kMostListed * kBlockBytes + 8 * kBlockBytes];

  unsigned char* marks() { return marks_before + 1; }
};

GRAPHMOUNT_AVX512 inline __m512i load(const void* from) {
  return _mm512_loadu_si512(from);
}

GRAPHMOUNT_AVX512 inline void store(void* to, __m512i vector) {
  _mm512_storeu_si512(to, vector);
}

// The bits of a mask, in a register for integers. Compilers would move them there for each use.
inline std::uint64_t bits_of(__mmask64 mask) {
  std::uint64_t bits = mask;
  __asm__("" : "+r"(bits));
  return bits;
}

inline std::size_t count_bits(std::uint64_t bits) {
  return static_cast<std::size_t>(std::popcount(bits));
}

/// Takes numbers apart up to a character that does not belong into one, and `wanted` at least if
/// there are so many. The last of `count` may be at the end of the line. Returns how many there
/// are.
GRAPHMOUNT_AVX512 inline std::size_t list_numbers(const char* text, std::size_t wanted,
                                                  std::size_t count, char delimiter,
                                                  ListedNumbers& numbers) {
  alignas(64) static constexpr unsigned char kCounting[kBlockBytes] = {
      0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
      22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
      44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
  const __m512i high = _mm512_set1_epi8(static_cast<char>(0x80));
  const __m512i minus = _mm512_set1_epi8('-');
  std::uint64_t sign_ahead = *text == '-' ? 1 : 0;
  unsigned char is_in_fraction = 0;
  numbers.marks_before[0] = static_cast<unsigned char>(sign_ahead << 7 | 0x7F);
  std::size_t num_marks = 0;
  unsigned char* next_digits = numbers.digits;
  __m512i places = load(kCounting);
  for (const char* p = text; num_marks < 2 * wanted; p += kBlockBytes) {
    const __m512i block = load(p);
    const __m512i values = _mm512_sub_epi8(block, _mm512_set1_epi8('0'));
    const __mmask64 are_digits = _mm512_cmple_epu8_mask(values, _mm512_set1_epi8(9));
    const __mmask64 are_points = _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8('.'));
    const __mmask64 are_ends = _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8(delimiter));
    const __mmask64 before_minus = _mm512_cmpeq_epi8_mask(load(p + 1), minus);
    const __m512i flagged = _mm512_mask_add_epi8(places, before_minus, places, high);
    const std::uint64_t digits = bits_of(are_digits);
    const std::uint64_t points = bits_of(are_points);
    const std::uint64_t ends = bits_of(are_ends);
    const std::uint64_t marks = points | ends;
    const std::uint64_t before_sign = ends & bits_of(before_minus);
    const std::uint64_t signs = before_sign << 1 | sign_ahead;
    // Every other mark is a point and every other an end: a subtraction that borrows at each point
    // gives back at the next end, and tells by the bits there whether that was so.
    unsigned long long borrowed;
    is_in_fraction = _subborrow_u64(is_in_fraction, ends, points, &borrowed);
    const std::uint64_t strange = ~(digits | marks | signs) | ((borrowed & marks) ^ points);
    if (strange != 0 || marks == 0) [[unlikely]] {
      const std::uint64_t first = strange & (0 - strange);
      std::uint64_t last_marks = marks & (first - 1);
      const char c = strange == 0 ? '\0' : p[std::countr_zero(strange)];
      const bool is_last = num_marks + count_bits(last_marks) + 1 == 2 * count;
      if (is_last && (c == '\n' || c == '\r')) last_marks |= first;
      store(numbers.marks() + num_marks, _mm512_maskz_compress_epi8(last_marks, flagged));
      store(next_digits, _mm512_maskz_compress_epi8(are_digits, values));
      return (num_marks + count_bits(last_marks)) / 2;
    }
    store(numbers.marks() + num_marks,
          _mm512_maskz_compress_epi8(_kor_mask64(are_points, are_ends), flagged));
    store(next_digits, _mm512_maskz_compress_epi8(are_digits, values));
    num_marks += count_bits(marks);
    next_digits += count_bits(digits);
    sign_ahead = before_sign >> 63;
    places = _mm512_xor_si512(places, _mm512_set1_epi8(kBlockBytes));
  }
  return num_marks / 2;
}

}  // namespace graphmount::avx512
