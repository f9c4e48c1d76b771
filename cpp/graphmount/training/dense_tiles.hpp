// The innermost loops of products of matrices: a tile of results that stays in registers.
//
// The same code is compiled for several widths of vectors, and the best is chosen when it runs.
// Products are added without rounding in between where the processor can do that.
#pragma once

#include <cstddef>

namespace graphmount {

/// How a tile is made: vectors of so many floats, two to a row of the tile, and so many rows.
template <std::size_t kLanesOfVector, std::size_t kRowsOfTile>
struct TileShape {
  static constexpr std::size_t kLanes = kLanesOfVector, kRows = kRowsOfTile, kColumns = 2 * kLanes;
  typedef float Vector __attribute__((vector_size(kLanesOfVector * sizeof(float))));
  /// The same anywhere in memory.
  typedef float Loose __attribute__((vector_size(kLanesOfVector * sizeof(float)), aligned(4)));
};

#define GRAPHMOUNT_TILE inline __attribute__((always_inline))

/// Adds to a tile of `rows` rows and two vectors at `out`, whose rows are `out_stride` apart: for
/// each step, the number of each row at `left` times the two vectors at `right`. From one row to
/// the next, `left` goes on by `left_row`, from one step to the next by `left_step`.
template <class Shape, std::size_t kRows>
GRAPHMOUNT_TILE void add_products(const float* left, std::size_t left_row, std::size_t left_step,
                                  const float* right, std::size_t num_steps, float* out,
                                  std::size_t out_stride) {
  using Vector = typename Shape::Vector;
  using Loose = typename Shape::Loose;
  Vector sums[kRows][2];
#pragma GCC unroll 16
  for (std::size_t row = 0; row < kRows; ++row) {
    sums[row][0] = *reinterpret_cast<const Loose*>(out + row * out_stride);
    sums[row][1] = *reinterpret_cast<const Loose*>(out + row * out_stride + Shape::kLanes);
  }
  for (std::size_t step = 0; step < num_steps; ++step) {
    const Vector first = *reinterpret_cast<const Loose*>(right);
    const Vector second = *reinterpret_cast<const Loose*>(right + Shape::kLanes);
#pragma GCC unroll 16
    for (std::size_t row = 0; row < kRows; ++row) {
      const float number = left[row * left_row];
      sums[row][0] += number * first;
      sums[row][1] += number * second;
    }
    right += Shape::kColumns;
    left += left_step;
  }
#pragma GCC unroll 16
  for (std::size_t row = 0; row < kRows; ++row) {
    *reinterpret_cast<Loose*>(out + row * out_stride) = sums[row][0];
    *reinterpret_cast<Loose*>(out + row * out_stride + Shape::kLanes) = sums[row][1];
  }
}

/// The same for any number of rows: whole tiles, and then the rest row by row.
template <class Shape>
GRAPHMOUNT_TILE void add_all_products(const float* left, std::size_t left_row,
                                      std::size_t left_step, std::size_t num_rows,
                                      const float* right, std::size_t num_steps, float* out,
                                      std::size_t out_stride) {
  std::size_t row = 0;
  for (; row + Shape::kRows <= num_rows; row += Shape::kRows)
    add_products<Shape, Shape::kRows>(left + row * left_row, left_row, left_step, right, num_steps,
                                      out + row * out_stride, out_stride);
  for (; row < num_rows; ++row)
    add_products<Shape, 1>(left + row * left_row, left_row, left_step, right, num_steps,
                           out + row * out_stride, out_stride);
}

#if defined(__x86_64__) && defined(__GNUC__)
struct Tile512 : TileShape<16, 8> {
  template <class Loop>
  __attribute__((target("avx512f,prefer-vector-width=512"))) static void run(const Loop& loop) {
    loop();
  }
};

struct Tile256 : TileShape<8, 6> {
  template <class Loop>
  __attribute__((target("avx2,fma"))) static void run(const Loop& loop) {
    loop();
  }
};
#endif

struct Tile128 : TileShape<4, 4> {
  template <class Loop>
  static void run(const Loop& loop) {
    loop();
  }
};

/// The widest vectors that this processor has, and that there are tiles for, in bits.
inline int tile_bits() {
#if defined(__x86_64__) && defined(__GNUC__)
  static const bool has_512 = __builtin_cpu_supports("avx512f");
  static const bool has_256 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (has_512) return 512;
  if (has_256) return 256;
#endif
  return 128;
}

/// Calls body<Shape>() with the widest tiles that this processor has. What is to use them is run by
/// Shape::run, and all parts of it must be GRAPHMOUNT_TILE.
template <class Body>
void with_tiles(const Body& body) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (tile_bits() == 512) return body.template operator()<Tile512>();
  if (tile_bits() == 256) return body.template operator()<Tile256>();
#endif
  body.template operator()<Tile128>();
}

}  // namespace graphmount
