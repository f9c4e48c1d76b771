// Runs of decimal fractions with a delimiter between them: the columns of a table of features.
//
// The ends of several numbers are found at once, so that no number has to wait for the one before.
// All digits of a number are put together at once, without its point. Two loads do that: one ends
// where the number ends, and has the digits behind the point in their places; the other ends one
// character earlier, and has the digits before the point. There is no branch on the number of
// digits or on the sign. The result is the same as that of `read_decimal`.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "graphmount/text/numbers/digit_mask.hpp"

namespace graphmount {

/// How many bytes must be readable before the first number of a run.
inline constexpr std::size_t kRunBytesBefore = 17;

/// How many numbers are looked for at once. Longer ones than 16 characters are found one by one.
inline constexpr std::size_t kFractionsAtOnce = 4;

/// So many digits make an integer that double holds exactly, whatever they are.
inline constexpr std::size_t kMostRunDigits = 15;

#ifdef __SSE2__

/// The number that some digits make, as four numbers of four digits. They end before `end`, and a
/// point, which does not count, stands before the last `num_behind` of them.
inline __m128i digits_around_point(const char* end, std::size_t num_digits,
                                   std::size_t num_behind) {
  // From the byte `count` on: a mask of the last `count` bytes, which makes digits their values.
  alignas(32) static constexpr unsigned char kLast[32] = {
      0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
      15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15};
  const auto load = [](const void* from) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  };
  const __m128i is_behind = load(kLast + num_behind);
  const __m128i is_before = _mm_andnot_si128(is_behind, load(kLast + num_digits));
  const __m128i digits = _mm_or_si128(_mm_and_si128(load(end - 16), is_behind),
                                      _mm_and_si128(load(end - 17), is_before));
  return _mm_add_epi32(
      _mm_madd_epi16(_mm_and_si128(digits, _mm_set1_epi16(0xFF)), _mm_set1_epi32(10 << 16 | 1000)),
      _mm_madd_epi16(_mm_srli_epi16(digits, 8), _mm_set1_epi32(1 << 16 | 100)));
}

/// Two numbers out of what `digits_around_point` has made of them, and what to divide them by.
inline __m128d divide_two(const __m128i* fours, const double* divisors) {
  const __m128i eights =
      _mm_madd_epi16(_mm_packs_epi32(fours[0], fours[1]), _mm_set1_epi32(1 << 16 | 10000));
  const __m128i parts = _mm_shuffle_epi32(eights, _MM_SHUFFLE(3, 1, 2, 0));
  const __m128d upper = _mm_mul_pd(_mm_cvtepi32_pd(parts), _mm_set1_pd(1e8));
  const __m128d lower = _mm_cvtepi32_pd(_mm_unpackhi_epi64(parts, parts));
  return _mm_div_pd(_mm_add_pd(upper, lower), _mm_loadu_pd(divisors));
}

/// Puts four of them to `place`.
inline void put_four(std::byte* place, const __m128i* fours, const double* divisors, float) {
  _mm_storeu_ps(reinterpret_cast<float*>(place),
                _mm_movelh_ps(_mm_cvtpd_ps(divide_two(fours, divisors)),
                              _mm_cvtpd_ps(divide_two(fours + 2, divisors + 2))));
}

inline void put_four(std::byte* place, const __m128i* fours, const double* divisors, double) {
  auto* const items = reinterpret_cast<double*>(place);
  _mm_storeu_pd(items, divide_two(fours, divisors));
  _mm_storeu_pd(items + 2, divide_two(fours + 2, divisors + 2));
}

inline std::size_t first_mark(std::uint64_t marks) {
  return static_cast<unsigned>(std::countr_zero(marks));
}

/// Reads up to `count` numbers at `text`, at least one, to `place` and behind. There is a delimiter
/// behind each but the last, and that or the end of the line behind the last. Returns how many have
/// been read: all up to one that is not plain, or too long. `text` moves behind the delimiter of
/// the last one that has been read, or, if it was the last of all, to its end. Readable must be
/// kRunBytesBefore bytes before the text and kLongMaskBytes from any number on.
template <class Item>
std::size_t read_fraction_run(const char*& text, std::size_t count, char delimiter,
                              std::byte* place) {
  // By the sign, and how many digits are behind the point.
  static constexpr double kDivisors[2][16] = {
      {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15},
      {-1e0, -1e1, -1e2, -1e3, -1e4, -1e5, -1e6, -1e7, -1e8, -1e9, -1e10, -1e11, -1e12, -1e13,
       -1e14, -1e15}};
  const char* line = text;
  std::size_t done = 0;
  while (done < count) {
    const std::uint64_t others = other_than_digits_of_64(line);
    // What follows a character that is no digit, and is none, is the sign of a number, or the
    // numbers are not plain. Without signs, every other mark is a point and every other an end.
    const std::uint64_t signs = others & (others << 1 | 1);
    std::uint64_t marks = others ^ signs;
    std::uint64_t starts = 0;
    std::size_t start = 0;
    __m128i fours[kFractionsAtOnce] = {};
    double divisors[kFractionsAtOnce] = {1, 1, 1, 1};
    const std::size_t wanted = std::min(count - done, kFractionsAtOnce);
    std::size_t found = 0;
    for (; found < wanted && start < kLongMaskBytes; ++found) {
      const auto is_negative = static_cast<std::size_t>(line[start] == '-');
      if ((signs >> start & 1) != is_negative) break;
      // Without a mark, what is behind the characters that were looked at: it may be one.
      const std::size_t point = first_mark(marks);
      std::size_t end = point;
      std::size_t digits_end = point + 1;  // an integer, as if there were a point behind it
      marks &= marks - 1;
      if (line[point] == '.') [[likely]] {
        end = digits_end = first_mark(marks);
        marks &= marks - 1;
      }
      const std::size_t num_digits = digits_end - start - is_negative - 1;
      if (num_digits - 1 >= kMostRunDigits) break;
      if (const char c = line[end];
          c != delimiter && (done + found + 1 < count || (c != '\n' && c != '\r')))
        break;
      const std::size_t num_behind = digits_end - point - 1;
      fours[found] = digits_around_point(line + digits_end, num_digits, num_behind);
      divisors[found] = kDivisors[is_negative][num_behind];
      starts |= std::uint64_t{1} << start;
      start = end + 1;
    }
    const std::uint64_t is_read = start < kLongMaskBytes ? (std::uint64_t{1} << start) - 1 : ~0ULL;
    if (found == 0 || (signs & ~starts & is_read) != 0) break;  // or signs are elsewhere
    if (found == kFractionsAtOnce) [[likely]] {
      put_four(place + done * sizeof(Item), fours, divisors, Item{});
    } else {
      std::byte some[kFractionsAtOnce * sizeof(Item)];
      put_four(some, fours, divisors, Item{});
      std::memcpy(place + done * sizeof(Item), some, found * sizeof(Item));
    }
    done += found;
    line += start - (done == count ? 1 : 0);
  }
  text = line;
  return done;
}

#else

template <class Item>
std::size_t read_fraction_run(const char*&, std::size_t, char, std::byte*) {
  return 0;  // numbers are read one by one
}

#endif

}  // namespace graphmount
