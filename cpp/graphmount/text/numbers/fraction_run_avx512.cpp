#include "graphmount/text/numbers/fraction_run_avx512.hpp"

#ifdef GRAPHMOUNT_HAS_AVX512_RUNS

#include <algorithm>
#include <bit>
#include <cstdint>

#include "graphmount/text/numbers/number_list_avx512.hpp"

namespace graphmount {
namespace {

using namespace avx512;

constexpr std::size_t kGroup = 32;   // numbers that are laid out together
constexpr std::size_t kAtOnce = 16;  // numbers that are made together
constexpr int kFieldDigits = 16;
constexpr int kMostDigits = 15;   // see kMostRunDigits
constexpr int kUsualBehind = 11;  // of them behind the point, if these are enough

// How the digits of numbers go into fields of 16, with the points of a group all in one place.
struct Fields {
  std::uint16_t are_given[kMostListed];  // a bit for each digit that is in the text; others are 0
  std::uint32_t are_negative[kMostListed / kGroup];
  int behind[kMostListed / kGroup];  // how many digits of the fields are behind the point
};

// The same number in all words of a vector.
GRAPHMOUNT_AVX512 inline __m512i words(int number) {
  return _mm512_set1_epi16(static_cast<short>(number));
}

// Lays a group out, from number `at` on, with so many digits behind the point. Returns which of
// those that are wanted are plain and fit, up to the first that does not.
GRAPHMOUNT_AVX512 inline std::uint32_t lay_out(ListedNumbers& numbers, std::size_t at, int behind,
                                               std::uint32_t are_wanted, Fields& fields) {
  // From each mark to the next: in words, to a point in the lower byte and an end in the upper one.
  const __m512i marks = load(numbers.marks() + 2 * at);
  const __m512i marks_before = load(numbers.marks_before + 2 * at);
  const __m512i steps = _mm512_and_si512(_mm512_sub_epi8(marks, marks_before), words(0x7F7F));
  const std::uint32_t are_negative = _mm512_test_epi16_mask(marks_before, words(0x80));
  const __m512i step_behind = _mm512_srli_epi16(steps, 8);
  const __m512i to_point = _mm512_and_si512(steps, words(0xFF));
  const __m512i step_before = _mm512_mask_sub_epi16(to_point, are_negative, to_point, words(1));
  // A step is one longer than the digits on it. As unsigned numbers, so that no digits are too many
  // as well.
  const std::uint32_t fit =
      _mm512_cmplt_epu16_mask(_mm512_sub_epi16(step_behind, words(2)), words(behind)) &
      _mm512_cmplt_epu16_mask(_mm512_sub_epi16(step_before, words(2)), words(kMostDigits - behind));
  const std::uint32_t are_plain = fit & are_wanted & ~((fit & are_wanted) + 1);
  const __m512i left =
      _mm512_sub_epi16(words(kFieldDigits + 2), _mm512_add_epi16(step_before, step_behind));
  const __m512i right = _mm512_sub_epi16(words(behind + 1), step_behind);
  store(fields.are_given + at,
        _mm512_maskz_srlv_epi16(are_plain, _mm512_sllv_epi16(words(-1), left), right));
  fields.are_negative[at / kGroup] = are_negative & are_plain;
  fields.behind[at / kGroup] = behind;
  return are_plain;
}

// The digits behind the point with which most numbers of a group can be laid out.
int choose_behind(const unsigned char* marks, std::size_t count) {
  int before = 1;
  int behind = 1;
  for (std::size_t i = 0; i < count; ++i, marks += 2) {
    const int sign = marks[-1] >> 7;
    const int longer_before = std::max(before, ((marks[0] - marks[-1]) & 0x7F) - 1 - sign);
    const int longer_behind = std::max(behind, ((marks[1] - marks[0]) & 0x7F) - 1);
    if (longer_before + longer_behind > kMostDigits) break;
    before = longer_before;
    behind = longer_behind;
  }
  return kMostDigits - before;
}

// Puts the digits of four numbers into their fields; each is four numbers of four digits then.
GRAPHMOUNT_AVX512 inline __m512i take_four(const unsigned char*& digits,
                                           const std::uint16_t* are_given) {
  std::uint64_t given;
  __builtin_memcpy(&given, are_given, sizeof given);
  const __m512i fields = _mm512_maskz_expand_epi8(given, load(digits));
  digits += count_bits(given);
  const __m512i twos = _mm512_maddubs_epi16(fields, _mm512_set1_epi16(1 << 8 | 10));
  return _mm512_madd_epi16(twos, _mm512_set1_epi32(1 << 16 | 100));
}

// Eight numbers, as if there were no point; numbers of the first four and the last in turns.
GRAPHMOUNT_AVX512 inline __m512d take_eight(const unsigned char*& digits,
                                            const std::uint16_t* are_given) {
  const __m512i first = take_four(digits, are_given);
  const __m512i last = take_four(digits, are_given + 4);
  const __m512i eights =
      _mm512_madd_epi16(_mm512_packus_epi32(first, last), _mm512_set1_epi32(1 << 16 | 10000));
  return _mm512_maskz_cvtepi64_pd(
      0xFF, _mm512_add_epi64(_mm512_maskz_mul_epu32(0xFF, eights, _mm512_set1_epi64(100000000)),
                             _mm512_maskz_srli_epi64(0xFF, eights, 32)));
}

constexpr double kPowers[16] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
// Makes kAtOnce numbers of their digits, and puts those that are wanted to `place`.
GRAPHMOUNT_AVX512 inline void make_numbers(const unsigned char*& digits,
                                           const std::uint16_t* are_given, int behind,
                                           __mmask16 are_negative, __mmask16 are_wanted,
                                           float* place) {
  const __m512d first = take_eight(digits, are_given);
  const __m512d last = take_eight(digits, are_given + 8);
  const __m512d power = _mm512_set1_pd(kPowers[behind]);
  const __m512d first_value = _mm512_div_pd(first, power);
  const __m512d last_value = _mm512_div_pd(last, power);
  const __m512i order = _mm512_set_epi32(23, 21, 19, 17, 22, 20, 18, 16, 7, 5, 3, 1, 6, 4, 2, 0);
  const __m512 values = _mm512_permutex2var_ps(
      _mm512_castps256_ps512(_mm512_maskz_cvtpd_ps(0xFF, first_value)), order,
      _mm512_castps256_ps512(_mm512_maskz_cvtpd_ps(0xFF, last_value)));
  _mm512_mask_storeu_ps(place, are_wanted,
                        _mm512_mask_xor_ps(values, are_negative, values, _mm512_set1_ps(-0.0F)));
}

GRAPHMOUNT_AVX512 inline void make_numbers(const unsigned char*& digits,
                                           const std::uint16_t* are_given, int behind,
                                           __mmask16 are_negative, __mmask16 are_wanted,
                                           double* place) {
  const __m512d power = _mm512_set1_pd(kPowers[behind]);
  const __m512i order = _mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0);
  for (int i = 0; i < 2; ++i) {
    const __m512d wholes =
        _mm512_maskz_permutexvar_pd(0xFF, order, take_eight(digits, are_given + 8 * i));
    const __m512d values = _mm512_div_pd(wholes, power);
    const auto negative = static_cast<__mmask8>(are_negative >> 8 * i);
    _mm512_mask_storeu_pd(place + 8 * i, static_cast<__mmask8>(are_wanted >> 8 * i),
                          _mm512_mask_xor_pd(values, negative, values, _mm512_set1_pd(-0.0)));
  }
}

// Reads a run to `place` and behind.
template <class Item>
GRAPHMOUNT_AVX512 std::size_t read_run(const char*& text, std::size_t count, char delimiter,
                                       Item* place) {
  ListedNumbers numbers;
  Fields fields;
  std::size_t done = 0;
  std::size_t num_plain = kAtOnce;
  int behind = kUsualBehind;
  // Where few numbers are plain, others read them faster.
  while (done < count && num_plain >= kAtOnce) {
    const std::size_t wanted = std::min(count - done, kMostListed);
    const std::size_t listed =
        std::min(list_numbers(text, wanted, count - done, delimiter, numbers), wanted);
    num_plain = 0;
    std::size_t num_signs = 0;
    for (std::size_t at = 0; at < listed && num_plain == at; at += kGroup) {
      const std::size_t some = std::min(kGroup, listed - at);
      const auto are_wanted = static_cast<std::uint32_t>((std::uint64_t{1} << some) - 1);
      std::uint32_t are_plain = lay_out(numbers, at, behind, are_wanted, fields);
      if (are_plain != are_wanted) [[unlikely]] {
        behind = choose_behind(numbers.marks() + 2 * at, some);
        are_plain = lay_out(numbers, at, behind, are_wanted, fields);
      }
      num_plain += count_bits(are_plain);
      num_signs += count_bits(fields.are_negative[at / kGroup]);
    }
    const unsigned char* digits = numbers.digits;
    const auto make = [&](std::size_t at, __mmask16 are_wanted) GRAPHMOUNT_AVX512 {
      make_numbers(digits, fields.are_given + at, fields.behind[at / kGroup],
                   static_cast<__mmask16>(fields.are_negative[at / kGroup] >> at % kGroup),
                   are_wanted, place + at);
    };
    std::size_t at = 0;
    for (; at + kAtOnce <= num_plain; at += kAtOnce) make(at, 0xFFFF);
    if (at < num_plain) make(at, static_cast<__mmask16>((1U << (num_plain - at)) - 1));
    text += static_cast<std::size_t>(digits - numbers.digits) + num_signs + 2 * num_plain;
    place += num_plain;
    done += num_plain;
  }
  if (done == count) --text;
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
  return read_run(text, count, delimiter, reinterpret_cast<float*>(place));
}

template <>
std::size_t read_run_by_avx512<double>(const char*& text, std::size_t count, char delimiter,
                                       std::byte* place) {
  return read_run(text, count, delimiter, reinterpret_cast<double*>(place));
}

}  // namespace graphmount

#endif
