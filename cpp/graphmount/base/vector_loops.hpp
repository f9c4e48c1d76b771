// Loops over columns that use what vectors the processor has, and still give the same sums on all.
//
// The same code is compiled for several kinds of processors, and the best is chosen when it runs.
// Each column is summed by itself, in the order of edges, and products are rounded before they are
// added: so the width of vectors does not change a result.
#pragma once

#include <cstddef>
#include <type_traits>

namespace graphmount {

/// So many columns are summed at a time, in registers.
inline constexpr std::size_t kTileColumns = 64;
/// Rows that are on their way from memory while one is added.
inline constexpr std::size_t kRowsAhead = 8;

#if defined(__x86_64__) && defined(__GNUC__)
#define GRAPHMOUNT_INLINE inline __attribute__((always_inline))

template <class Loop>
__attribute__((target("avx512f,prefer-vector-width=512"))) void run_with_avx512(const Loop& loop) {
  loop();
}

template <class Loop>
__attribute__((target("avx2"))) void run_with_avx2(const Loop& loop) {
  loop();
}

/// Runs a loop, all of whose parts must be GRAPHMOUNT_INLINE, by the widest vectors there are.
template <class Loop>
void run_vectorized(const Loop& loop) {
  static const bool has_avx512 = __builtin_cpu_supports("avx512f");
  static const bool has_avx2 = __builtin_cpu_supports("avx2");
  if (has_avx512)
    run_with_avx512(loop);
  else if (has_avx2)
    run_with_avx2(loop);
  else
    loop();
}
#else
#define GRAPHMOUNT_INLINE inline

template <class Loop>
void run_vectorized(const Loop& loop) {
  loop();
}
#endif

/// Calls body(at, width) for each tile of columns. The width of a whole one is a constant.
template <class Body>
GRAPHMOUNT_INLINE void for_each_tile(std::size_t columns, const Body& body) {
  std::size_t at = 0;
  for (; at + kTileColumns <= columns; at += kTileColumns)
    body(at, std::integral_constant<std::size_t, kTileColumns>());
  if (at < columns) body(at, columns - at);
}

}  // namespace graphmount
