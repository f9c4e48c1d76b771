#include "graphmount/text_fraction_run_avx512.hpp"

#ifdef GRAPHMOUNT_HAS_AVX512_RUNS

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstdint>

// For single functions, not for the file: what it shares with others must run on any machine.
#define GRAPHMOUNT_AVX512 \
  __attribute__((         \
      target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt")))

namespace graphmount {
namespace {

constexpr std::size_t kBlockBytes = 64;
constexpr std::size_t kMostNumbers = 128;  // in one list
constexpr int kMostDigits = 15;            // see kMostRunDigits

// Where numbers are, as positions behind the start of the text: their lowest bytes, which is
// enough, as there is a mark in each block. Vectors may be stored at the last entry.
struct Numbers {
  // Each number begins behind the end of the one before; the first entry is the place before all.
  unsigned char ends_before[kMostNumbers + 2 * kBlockBytes];
  unsigned char points[kMostNumbers + 2 * kBlockBytes];
  unsigned char signs[kMostNumbers / 8 + kBlockBytes];  // a bit for each number

  unsigned char* ends() { return ends_before + 1; }
  const unsigned char* ends() const { return ends_before + 1; }
};

// The same from the first character on of each four numbers, and the digits behind the point.
struct Groups {
  unsigned char starts[kMostNumbers];
  unsigned char points[kMostNumbers];
  unsigned char ends[kMostNumbers];
  unsigned char behind[kMostNumbers];
};

GRAPHMOUNT_AVX512 inline __m512i load(const void* from) {
  return _mm512_loadu_si512(from);
}

GRAPHMOUNT_AVX512 inline void store(void* to, __m512i vector) {
  _mm512_storeu_si512(to, vector);
}

// Puts bits behind the first `count` of a list, and forgets what is behind them. Up to 57, which is
// more than plain numbers begin in a block.
inline void add_bits(unsigned char* list, std::size_t count, std::uint64_t bits) {
  std::uint64_t word;
  __builtin_memcpy(&word, list + count / 8, sizeof word);
  word &= (std::uint64_t{1} << count % 8) - 1;
  word |= bits << count % 8;
  __builtin_memcpy(list + count / 8, &word, sizeof word);
}

// Lists numbers up to a character that does not belong into one, and `wanted` at least if there are
// so many. The last of `count` may be at the end of the line. Returns how many there are.
GRAPHMOUNT_AVX512 std::size_t list_numbers(const char* text, std::size_t wanted, std::size_t count,
                                           char delimiter, Numbers& numbers) {
  alignas(64) static constexpr unsigned char kCounting[kBlockBytes] = {
      0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
      22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
      44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
  numbers.ends_before[0] = 0xFF;
  std::uint64_t starts = 1;
  std::size_t num_ends = 0;
  std::size_t num_points = 0;
  __m512i places = load(kCounting);
  for (const char* p = text; num_ends < wanted; p += kBlockBytes) {
    const __m512i block = load(p);
    const std::uint64_t others =
        _mm512_cmpgt_epu8_mask(_mm512_sub_epi8(block, _mm512_set1_epi8('0')), _mm512_set1_epi8(9));
    const std::uint64_t signs = _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8('-'));
    std::uint64_t points = _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8('.'));
    std::uint64_t ends = _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8(delimiter));
    // Whether the number that the last end is before begins in this block or in an earlier one.
    const std::size_t num_starts = num_ends + 1 - starts;
    starts |= ends << 1;
    const std::uint64_t strange = others & ~(ends | points | (signs & starts));
    add_bits(numbers.signs, num_starts, _pext_u64(signs, starts));
    starts = ends >> 63;
    if (strange != 0) {
      const std::uint64_t first = strange & (0 - strange);
      points &= first - 1;
      ends &= first - 1;
      const char c = p[std::countr_zero(strange)];
      const bool is_last = num_ends + static_cast<std::size_t>(std::popcount(ends)) + 1 == count;
      if (is_last && (c == '\n' || c == '\r')) ends |= first;
    }
    store(numbers.ends() + num_ends, _mm512_maskz_compress_epi8(ends, places));
    store(numbers.points + num_points, _mm512_maskz_compress_epi8(points, places));
    num_ends += static_cast<std::size_t>(std::popcount(ends));
    num_points += static_cast<std::size_t>(std::popcount(points));
    // Points stay beside the ends of their numbers, or the lists mean nothing from here on.
    if (strange != 0 || ends == 0 || num_points - num_ends > 1) break;
    places = _mm512_add_epi8(places, _mm512_set1_epi8(kBlockBytes));
  }
  const std::size_t num_listed = std::min(num_ends, num_points);
  if (num_listed == num_points && num_ends > 0)  // as if there were a point behind all
    numbers.points[num_points] = static_cast<unsigned char>(numbers.ends_before[num_ends] + 1);
  return num_listed;
}

// Measures up to 64 numbers, from number `at` on. Returns how many are plain and lie close enough
// together: each four of them have to be in one block.
GRAPHMOUNT_AVX512 std::size_t measure(const Numbers& numbers, std::size_t at, Groups& groups) {
  const __m512i one = _mm512_set1_epi8(1);
  const __m512i starts = _mm512_add_epi8(load(numbers.ends_before + at), one);
  const __m512i points = load(numbers.points + at);
  const __m512i ends = load(numbers.ends() + at);
  std::uint64_t signs;
  __builtin_memcpy(&signs, numbers.signs + at / 8, sizeof signs);
  const __m512i before = _mm512_mask_sub_epi8(_mm512_sub_epi8(points, starts), signs,
                                              _mm512_sub_epi8(points, starts), one);
  const __m512i behind = _mm512_sub_epi8(_mm512_sub_epi8(ends, points), one);
  const __m512i first_starts = _mm512_shuffle_epi8(
      starts, _mm512_set4_epi32(0x0C0C0C0C, 0x08080808, 0x04040404, 0x00000000));
  const __m512i group_ends = _mm512_sub_epi8(ends, first_starts);
  store(groups.starts + at, _mm512_sub_epi8(starts, first_starts));
  store(groups.points + at, _mm512_sub_epi8(points, first_starts));
  store(groups.ends + at, group_ends);
  store(groups.behind + at, behind);
  const __m512i next_points = load(numbers.points + at + 1);
  const __m512i most = _mm512_set1_epi8(kMostDigits);
  // As unsigned numbers, so that those less than 1 are too many as well.
  const std::uint64_t are_plain =
      _mm512_cmplt_epu8_mask(_mm512_sub_epi8(before, one), most) &
      _mm512_cmplt_epu8_mask(_mm512_sub_epi8(behind, one), most) &
      _mm512_cmple_epu8_mask(_mm512_add_epi8(before, behind), most) &
      _mm512_cmpgt_epi8_mask(_mm512_sub_epi8(next_points, ends), _mm512_setzero_si512()) &
      _mm512_cmple_epu8_mask(group_ends, _mm512_set1_epi8(kBlockBytes));
  return static_cast<std::size_t>(std::countr_one(are_plain));
}

// Four bytes, each in all of one quarter of a vector.
GRAPHMOUNT_AVX512 inline __m512i spread_four(const unsigned char* bytes) {
  std::int32_t four;
  __builtin_memcpy(&four, bytes, sizeof four);
  const __m512i quarters =
      _mm512_set_epi64(0x0303030303030303, 0x0303030303030303, 0x0202020202020202,
                       0x0202020202020202, 0x0101010101010101, 0x0101010101010101, 0, 0);
  return _mm512_shuffle_epi8(_mm512_set1_epi32(four), quarters);
}

// Four numbers, from number `at` on, each as four numbers of four digits. The first is at `text`.
GRAPHMOUNT_AVX512 inline __m512i digits_of_four(const char* text, const Groups& groups,
                                                std::size_t at) {
  const __m512i starts = spread_four(groups.starts + at);
  const __m512i points = spread_four(groups.points + at);
  const __m512i ends = spread_four(groups.ends + at);
  // In each quarter, the 16 characters before the end; those before the point from one before.
  const __m512i back = _mm512_maskz_broadcast_i32x4(
      0xFFFF, _mm_set_epi8(-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12, -13, -14, -15, -16));
  __m512i places = _mm512_add_epi8(ends, back);
  const __mmask64 are_before = _mm512_cmple_epi8_mask(places, points);
  places = _mm512_mask_sub_epi8(places, are_before, places, _mm512_set1_epi8(1));
  const __mmask64 are_inside = _mm512_cmpge_epi8_mask(places, starts);
  const __m512i characters = _mm512_maskz_permutexvar_epi8(are_inside, places, load(text));
  // A sign becomes 0, and so does what is not inside.
  const __m512i digits = _mm512_subs_epu8(characters, _mm512_set1_epi8('0'));
  const __m512i twos = _mm512_maddubs_epi16(digits, _mm512_set1_epi16(1 << 8 | 10));
  return _mm512_madd_epi16(twos, _mm512_set1_epi32(1 << 16 | 100));
}

// Eight numbers, from number `at` on. The first is at `text`, and the fifth at `fifth`.
GRAPHMOUNT_AVX512 inline __m512d make_eight(const char* text, const char* fifth,
                                            const Groups& groups, std::size_t at,
                                            __mmask8 are_negative) {
  static constexpr double kDivisors[16] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                           1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const __m512i eights = _mm512_madd_epi16(
      _mm512_packus_epi32(digits_of_four(text, groups, at), digits_of_four(fifth, groups, at + 4)),
      _mm512_set1_epi32(1 << 16 | 10000));
  const __m512i mixed =
      _mm512_add_epi64(_mm512_maskz_mul_epu32(0xFF, eights, _mm512_set1_epi64(100000000)),
                       _mm512_maskz_srli_epi64(0xFF, eights, 32));
  const __m512i wholes =
      _mm512_maskz_permutexvar_epi64(0xFF, _mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0), mixed);
  const __m128i behind = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(groups.behind + at));
  const __m512d divisors =
      _mm512_permutex2var_pd(_mm512_loadu_pd(kDivisors), _mm512_maskz_cvtepu8_epi64(0xFF, behind),
                             _mm512_loadu_pd(kDivisors + 8));
  const __m512d values = _mm512_div_pd(_mm512_maskz_cvtepi64_pd(0xFF, wholes), divisors);
  return _mm512_mask_xor_pd(values, are_negative, values, _mm512_set1_pd(-0.0));
}

// Reads a run to `place` and behind.
template <class Item>
GRAPHMOUNT_AVX512 std::size_t read_run(const char*& text, std::size_t count, char delimiter,
                                       std::byte* place) {
  Numbers numbers;
  Groups groups;
  std::size_t done = 0;
  bool is_plain = true;
  while (done < count && is_plain) {
    const std::size_t wanted = std::min(count - done, kMostNumbers);
    const std::size_t listed =
        std::min(list_numbers(text, wanted, count - done, delimiter, numbers), wanted);
    std::size_t num_plain = 0;
    for (std::size_t at = 0; at < listed && num_plain == at; at += kBlockBytes)
      num_plain += std::min(measure(numbers, at, groups), listed - at);
    const char* start = text;
    std::size_t at = 0;
    for (; at + 8 <= num_plain; at += 8) {
      const unsigned char* const ends = numbers.ends_before + at;
      const char* const fifth = start + static_cast<unsigned char>(ends[4] - ends[0]);
      const __m512d values = make_eight(start, fifth, groups, at, numbers.signs[at / 8]);
      if constexpr (sizeof(Item) == sizeof(float))
        _mm256_storeu_ps(reinterpret_cast<float*>(place), _mm512_maskz_cvtpd_ps(0xFF, values));
      else
        _mm512_storeu_pd(place, values);
      start += static_cast<unsigned char>(ends[8] - ends[0]);
      place += 8 * sizeof(Item);
    }
    if (const std::size_t some = num_plain - at; some > 0) {
      const unsigned char* const ends = numbers.ends_before + at;
      const char* const fifth =
          some > 4 ? start + static_cast<unsigned char>(ends[4] - ends[0]) : start;
      const __m512d values = make_eight(start, fifth, groups, at, numbers.signs[at / 8]);
      const auto which = static_cast<__mmask8>((1U << some) - 1);
      if constexpr (sizeof(Item) == sizeof(float))
        _mm256_mask_storeu_ps(place, which, _mm512_maskz_cvtpd_ps(0xFF, values));
      else
        _mm512_mask_storeu_pd(place, which, values);
      start += static_cast<unsigned char>(ends[some] - ends[0]);
      place += some * sizeof(Item);
    }
    done += num_plain;
    is_plain = num_plain == wanted;
    text = done == count ? start - 1 : start;
  }
  return done;
}

}  // namespace

bool can_read_by_avx512() {
  static const bool can = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512vl") &&
                          __builtin_cpu_supports("avx512vbmi") &&
                          __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("bmi") &&
                          __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
  return can;
}

template <>
std::size_t read_run_by_avx512<float>(const char*& text, std::size_t count, char delimiter,
                                      std::byte* place) {
  return read_run<float>(text, count, delimiter, place);
}

template <>
std::size_t read_run_by_avx512<double>(const char*& text, std::size_t count, char delimiter,
                                       std::byte* place) {
  return read_run<double>(text, count, delimiter, place);
}

}  // namespace graphmount

#endif
