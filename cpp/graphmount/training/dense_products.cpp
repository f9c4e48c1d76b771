#include "graphmount/training/dense_products.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "graphmount/system/threads/team.hpp"
#include "graphmount/training/dense_tiles.hpp"

namespace graphmount {
namespace {

/// Rows of a block, which are multiplied with one panel of weights after the other.
constexpr std::size_t kBlockRows = 96;
/// Rows that are added up for the gradient of weights before the next columns are taken.
constexpr std::size_t kDepth = 128;
/// Sums over all rows are made of at most so many, in order.
constexpr std::size_t kMostSums = 64;

void require_sizes(bool do_fit) {
  if (!do_fit)
    throw std::invalid_argument("rows, weights or results are more or fewer than fit each other");
}

std::size_t round_up(std::size_t count, std::size_t step) {
  return (count + step - 1) / step * step;
}

/// A matrix cut into panels of columns, each of which lies in one piece: for each of its steps, the
/// columns of a tile. Columns that are missing in the last panel are zeros.
struct Panels {
  std::vector<float> values;
  std::size_t steps = 0, columns = 0;
};

/// `at(step, column)` is where a number of the matrix lies.
template <class Shape, class At>
Panels make_panels(std::size_t steps, std::size_t columns, const At& at) {
  Panels made{std::vector<float>(steps * round_up(columns, Shape::kColumns)), steps, columns};
  for (std::size_t first = 0; first < columns; first += Shape::kColumns) {
    const std::size_t width = std::min(Shape::kColumns, columns - first);
    float* const panel = made.values.data() + first * steps;
    for (std::size_t step = 0; step < steps; ++step)
      for (std::size_t i = 0; i < width; ++i)
        panel[step * Shape::kColumns + i] = *at(step, first + i);
  }
  return made;
}

/// Has memory fetch numbers that are read later.
GRAPHMOUNT_TILE void fetch(const float* from, std::size_t count) {
  for (std::size_t i = 0; i < count; i += 16) __builtin_prefetch(from + i);
}

/// Adds the products of `count` rows with all panels to `out`, while memory brings the next rows.
template <class Shape>
GRAPHMOUNT_TILE void multiply_block(const float* rows, std::size_t count, std::size_t num_next,
                                    const Panels& panels, float* out) {
  for (std::size_t first = 0; first < panels.columns; first += Shape::kColumns) {
    const std::size_t done = first * num_next / panels.columns;
    const std::size_t end = std::min(panels.columns, first + Shape::kColumns);
    fetch(rows + (count + done) * panels.steps,
          (end * num_next / panels.columns - done) * panels.steps);
    const float* const panel = panels.values.data() + first * panels.steps;
    if (panels.columns - first >= Shape::kColumns) {
      add_all_products<Shape>(rows, panels.steps, 1, count, panel, panels.steps, out + first,
                              panels.columns);
      continue;
    }
    float wide[kBlockRows * Shape::kColumns] = {};
    add_all_products<Shape>(rows, panels.steps, 1, count, panel, panels.steps, wide,
                            Shape::kColumns);
    for (std::size_t row = 0; row < count; ++row)
      for (std::size_t i = 0; first + i < panels.columns; ++i)
        out[row * panels.columns + first + i] += wide[row * Shape::kColumns + i];
  }
}

/// What goes back of `count` rows of a gradient: where results were cut off at 0, nothing.
/// Otherwise the gradient as it is; `room` is for a copy.
GRAPHMOUNT_TILE const float* pass_back(const ResultGradient& gradient, std::size_t first,
                                       std::size_t count, float* room) {
  const float* const values = gradient.values.data() + first * gradient.outputs;
  if (gradient.results.empty()) return values;
  const float* const results = gradient.results.data() + first * gradient.outputs;
  // A result that is no number lets the gradient through, as it does in torch.
  for (std::size_t i = 0; i < count * gradient.outputs; ++i)
    room[i] = results[i] <= 0.0F ? 0.0F : values[i];
  return room;
}

std::size_t require_rows(const ResultGradient& gradient, std::size_t num_rows) {
  require_sizes(gradient.values.size() == num_rows * gradient.outputs &&
                (gradient.results.empty() || gradient.results.size() == gradient.values.size()));
  return num_rows;
}

/// Calls body(first row, rows) for each block of rows.
template <class Body>
void for_each_block(std::size_t num_rows, const Body& body) {
  team_for((num_rows + kBlockRows - 1) / kBlockRows, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t block = begin; block < end; ++block)
      body(block * kBlockRows, std::min(kBlockRows, num_rows - block * kBlockRows));
  });
}

/// Packs the rows of all parts into panels, one part after the other: `count` rows.
template <class Shape>
GRAPHMOUNT_TILE void pack_rows(std::span<const WeightGradient> parts, std::size_t first_row,
                               std::size_t count, float* panels) {
  for (const WeightGradient& part : parts) {
    for (std::size_t row = 0; row < count; ++row) {
      const float* const from = part.rows.data() + (first_row + row) * part.inputs;
      for (std::size_t first = 0; first < part.inputs; first += Shape::kColumns) {
        float* const to = panels + first * count + row * Shape::kColumns;
        const std::size_t width = std::min(Shape::kColumns, part.inputs - first);
        if (width == Shape::kColumns) {
          std::memcpy(to, from + first, sizeof(float) * Shape::kColumns);
        } else {
          std::copy_n(from + first, width, to);
          std::fill(to + width, to + Shape::kColumns, 0.0F);
        }
      }
    }
    panels += round_up(part.inputs, Shape::kColumns) * count;
  }
}

/// Has memory fetch a share of the next rows, one of `num_turns`.
GRAPHMOUNT_TILE void fetch_next(const ResultGradient& gradient,
                                std::span<const WeightGradient> parts, std::size_t next,
                                std::size_t num_next, std::size_t turn, std::size_t num_turns) {
  const std::size_t begin = next + turn * num_next / num_turns;
  const std::size_t count = next + (turn + 1) * num_next / num_turns - begin;
  fetch(gradient.values.data() + begin * gradient.outputs, count * gradient.outputs);
  if (!gradient.results.empty())
    fetch(gradient.results.data() + begin * gradient.outputs, count * gradient.outputs);
  for (const WeightGradient& part : parts)
    fetch(part.rows.data() + begin * part.inputs, count * part.inputs);
}

/// How many rows are added up at a time: by their number alone.
std::size_t rows_of_sum(std::size_t num_rows) {
  return std::max(round_up((num_rows + kMostSums - 1) / kMostSums, kDepth), 8 * kDepth);
}

/// Sums of the products of rows from `begin` to `end`, in whole panels of `stride` inputs, and of
/// the gradient itself.
template <class Shape>
void add_weights(const ResultGradient& gradient, std::span<const WeightGradient> parts,
                 std::size_t begin, std::size_t end, std::size_t num_rows, std::size_t stride,
                 float* sums, float* bias) {
  const std::size_t outputs = gradient.outputs;
  std::vector<float> panels(kDepth * stride);
  std::vector<float> room(gradient.results.empty() ? 0 : kDepth * outputs);
  const std::size_t num_tiles = (outputs + Shape::kRows - 1) / Shape::kRows;
  const std::size_t num_turns = std::max<std::size_t>(1, num_tiles * (stride / Shape::kColumns));
  for (std::size_t first = begin; first < end; first += kDepth) {
    const std::size_t count = std::min(kDepth, end - first);
    const std::size_t num_next = std::min(kDepth, num_rows - first - count);
    Shape::run([&]() __attribute__((always_inline)) {
      const float* const values = pass_back(gradient, first, count, room.data());
      pack_rows<Shape>(parts, first, count, panels.data());
      for (std::size_t row = 0; row < count; ++row)
        for (std::size_t i = 0; i < outputs; ++i) bias[i] += values[row * outputs + i];
      // The next rows a little at a time: memory has few orders under way at once.
      std::size_t turn = 0;
      for (std::size_t column = 0; column < stride; column += Shape::kColumns) {
        for (std::size_t output = 0; output < outputs; output += Shape::kRows, ++turn) {
          fetch_next(gradient, parts, first + count, num_next, turn, num_turns);
          add_all_products<Shape>(
              values + output, 1, outputs, std::min(Shape::kRows, outputs - output),
              panels.data() + column * count, count, sums + output * stride + column, stride);
        }
      }
    });
  }
}

template <class Shape>
void sum_weights(const ResultGradient& gradient, std::span<const WeightGradient> parts,
                 std::size_t num_rows, std::span<float> bias) {
  const std::size_t outputs = gradient.outputs, rows = rows_of_sum(num_rows);
  const std::size_t num_sums = (num_rows + rows - 1) / rows;
  std::size_t stride = 0;
  for (const WeightGradient& part : parts) stride += round_up(part.inputs, Shape::kColumns);
  std::vector<float> sums(num_sums * outputs * stride), biases(num_sums * outputs);
  team_for(num_sums, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t sum = begin; sum < end; ++sum)
      add_weights<Shape>(gradient, parts, sum * rows, std::min(num_rows, (sum + 1) * rows),
                         num_rows, stride, sums.data() + sum * outputs * stride,
                         biases.data() + sum * outputs);
  });
  for (const WeightGradient& part : parts) std::fill(part.out.begin(), part.out.end(), 0.0F);
  std::fill(bias.begin(), bias.end(), 0.0F);
  for (std::size_t sum = 0; sum < num_sums; ++sum) {
    for (std::size_t i = 0; i < bias.size(); ++i) bias[i] += biases[sum * outputs + i];
    for (std::size_t output = 0; output < outputs; ++output) {
      const float* from = sums.data() + (sum * outputs + output) * stride;
      for (const WeightGradient& part : parts) {
        float* const to = part.out.data() + output * part.inputs;
        for (std::size_t i = 0; i < part.inputs; ++i) to[i] += from[i];
        from += round_up(part.inputs, Shape::kColumns);
      }
    }
  }
}

}  // namespace

bool has_fast_products() {
#if defined(__x86_64__) && defined(__GNUC__)
  return tile_bits() >= 256 && !__builtin_cpu_is("intel");
#else
  return false;
#endif
}

void apply_weights(std::span<const LinearPart> parts, std::span<const float> bias,
                   std::size_t outputs, bool relu, std::span<float> out) {
  if (outputs == 0) return require_sizes(out.empty() && bias.empty());
  const std::size_t num_rows = out.size() / outputs;
  require_sizes(out.size() == num_rows * outputs && (bias.empty() || bias.size() == outputs));
  for (const LinearPart& part : parts)
    require_sizes(part.rows.size() == num_rows * part.inputs &&
                  part.weights.size() == outputs * part.inputs);
  with_tiles([&]<class Shape>() {
    std::vector<Panels> panels;
    for (const LinearPart& part : parts)
      panels.push_back(make_panels<Shape>(part.inputs, outputs, [&](auto step, auto column) {
        return part.weights.data() + column * part.inputs + step;
      }));
    for_each_block(num_rows, [&](std::size_t first, std::size_t count) {
      float* const to = out.data() + first * outputs;
      Shape::run([&]() __attribute__((always_inline)) {
        for (std::size_t row = 0; row < count; ++row)
          for (std::size_t i = 0; i < outputs; ++i)
            to[row * outputs + i] = bias.empty() ? 0.0F : bias[i];
        for (std::size_t part = 0; part < parts.size(); ++part)
          multiply_block<Shape>(parts[part].rows.data() + first * parts[part].inputs, count,
                                std::min(kBlockRows, num_rows - first - count), panels[part], to);
        if (relu)
          for (std::size_t i = 0; i < count * outputs; ++i) to[i] = to[i] < 0.0F ? 0.0F : to[i];
      });
    });
  });
}

void return_to_rows(const ResultGradient& gradient, std::span<const float> weights,
                    std::size_t inputs, std::span<float> out) {
  const std::size_t outputs = gradient.outputs;
  if (inputs == 0) return require_sizes(out.empty());
  const std::size_t num_rows = require_rows(gradient, out.size() / inputs);
  require_sizes(weights.size() == outputs * inputs && out.size() == num_rows * inputs);
  with_tiles([&]<class Shape>() {
    const Panels panels = make_panels<Shape>(outputs, inputs, [&](auto step, auto column) {
      return weights.data() + step * inputs + column;
    });
    for_each_block(num_rows, [&](std::size_t first, std::size_t count) {
      std::vector<float> room(gradient.results.empty() ? 0 : count * outputs);
      Shape::run([&]() __attribute__((always_inline)) {
        const float* const values = pass_back(gradient, first, count, room.data());
        float* const to = out.data() + first * inputs;
        std::fill_n(to, count * inputs, 0.0F);
        const std::size_t num_next =
            room.empty() ? std::min(kBlockRows, num_rows - first - count) : 0;
        multiply_block<Shape>(values, count, num_next, panels, to);
      });
    });
  });
}

void return_to_weights(const ResultGradient& gradient, std::span<const WeightGradient> parts,
                       std::span<float> bias) {
  const std::size_t outputs = gradient.outputs;
  if (outputs == 0) return;
  const std::size_t num_rows = require_rows(gradient, gradient.values.size() / outputs);
  require_sizes(bias.empty() || bias.size() == outputs);
  for (const WeightGradient& part : parts)
    require_sizes(part.rows.size() == num_rows * part.inputs &&
                  part.out.size() == outputs * part.inputs);
  with_tiles([&]<class Shape>() { sum_weights<Shape>(gradient, parts, num_rows, bias); });
}

}  // namespace graphmount
