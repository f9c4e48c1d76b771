#include "graphmount/text/line_count.hpp"

#include <algorithm>

#include "graphmount/text/numbers/fraction_run_avx512.hpp"

#ifdef GRAPHMOUNT_HAS_AVX512_RUNS
#include <immintrin.h>

#include <bit>
#endif

namespace graphmount {
namespace {

#ifdef GRAPHMOUNT_HAS_AVX512_RUNS

// For this function, not for the file: what it shares with others must run on any machine.
__attribute__((target("avx512f,avx512bw,popcnt"))) std::size_t count_by_avx512(
    std::string_view& text) {
  constexpr std::size_t kStep = 64;
  std::size_t count = 0;
  const __m512i line_break = _mm512_set1_epi8('\n');
  for (; text.size() >= kStep; text.remove_prefix(kStep))
    count += static_cast<std::size_t>(
        std::popcount(_mm512_cmpeq_epi8_mask(_mm512_loadu_si512(text.data()), line_break)));
  return count;
}

#endif

}  // namespace

std::size_t count_lines(std::string_view text) {
  std::size_t count = 0;
#ifdef GRAPHMOUNT_HAS_AVX512_RUNS
  if (can_read_by_avx512()) count = count_by_avx512(text);
#endif
  // In steps whose counts fit into a byte, which compilers turn into vector instructions.
  constexpr std::size_t kStep = 192;
  for (; text.size() >= kStep; text.remove_prefix(kStep)) {
    unsigned char in_step = 0;
    for (std::size_t i = 0; i < kStep; ++i)
      in_step = static_cast<unsigned char>(in_step + (text[i] == '\n'));
    count += in_step;
  }
  return count + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace graphmount
