// Products of rows with weights and their gradients, against plain loops in double precision.
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "graphmount/base/random.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "graphmount/training/dense_products.hpp"
#include "graphmount/training/dense_tiles.hpp"

using namespace graphmount;

namespace {

using Floats = std::vector<float>;

struct Sizes {
  std::size_t rows, inputs, more_inputs, outputs;
};

const Sizes kSizes[] = {{0, 3, 2, 4},     {1, 1, 0, 1},       {7, 5, 9, 33},
                        {97, 64, 32, 47}, {300, 130, 1, 128}, {2500, 17, 40, 31}};

struct Case {
  Floats rows, weights, more_rows, more_weights, bias, gradient;
};

Case make_case(const Sizes& sizes) {
  Draws draws{RandomKey(sizes.rows * 131 + sizes.outputs)};
  const auto fill = [&](std::size_t count) {
    Floats made(count);
    for (float& value : made) value = static_cast<float>(draws.unit() - 0.5);
    return made;
  };
  return {fill(sizes.rows * sizes.inputs),
          fill(sizes.outputs * sizes.inputs),
          fill(sizes.rows * sizes.more_inputs),
          fill(sizes.outputs * sizes.more_inputs),
          fill(sizes.outputs),
          fill(sizes.rows * sizes.outputs)};
}

void check_near(double found, double wanted) {
  CHECK(std::abs(found - wanted) <= 1e-4 * std::max(1.0, std::abs(wanted)));
}

Floats apply(const Sizes& sizes, const Case& test, bool has_bias, bool relu) {
  Floats out(sizes.rows * sizes.outputs, 9.0F);
  const LinearPart parts[] = {{test.rows, test.weights, sizes.inputs},
                              {test.more_rows, test.more_weights, sizes.more_inputs}};
  apply_weights(parts, has_bias ? std::span<const float>(test.bias) : std::span<const float>(),
                sizes.outputs, relu, out);
  return out;
}

}  // namespace

TEST(results_are_those_of_plain_loops) {
  for (const Sizes& sizes : kSizes) {
    const Case test = make_case(sizes);
    for (const bool has_bias : {false, true}) {
      const Floats out = apply(sizes, test, has_bias, false);
      const Floats cut = apply(sizes, test, has_bias, true);
      for (std::size_t row = 0; row < sizes.rows; ++row)
        for (std::size_t output = 0; output < sizes.outputs; ++output) {
          double wanted = has_bias ? test.bias[output] : 0.0;
          for (std::size_t i = 0; i < sizes.inputs; ++i)
            wanted +=
                double{test.rows[row * sizes.inputs + i]} * test.weights[output * sizes.inputs + i];
          for (std::size_t i = 0; i < sizes.more_inputs; ++i)
            wanted += double{test.more_rows[row * sizes.more_inputs + i]} *
                      test.more_weights[output * sizes.more_inputs + i];
          const std::size_t at = row * sizes.outputs + output;
          check_near(out[at], wanted);
          CHECK(cut[at] == (out[at] < 0 ? 0.0F : out[at]));
        }
    }
  }
}

TEST(gradients_are_those_of_plain_loops) {
  for (const Sizes& sizes : kSizes) {
    const Case test = make_case(sizes);
    for (const bool relu : {false, true}) {
      const Floats results = relu ? apply(sizes, test, true, true) : Floats();
      const auto passed = [&](std::size_t at) -> double {
        return relu && results[at] <= 0 ? 0.0 : test.gradient[at];
      };
      const ResultGradient gradient{test.gradient, results, sizes.outputs};
      Floats of_rows(test.rows.size(), 9.0F);
      return_to_rows(gradient, test.weights, sizes.inputs, of_rows);
      for (std::size_t row = 0; row < sizes.rows; ++row)
        for (std::size_t i = 0; i < sizes.inputs; ++i) {
          double wanted = 0;
          for (std::size_t output = 0; output < sizes.outputs; ++output)
            wanted +=
                passed(row * sizes.outputs + output) * test.weights[output * sizes.inputs + i];
          check_near(of_rows[row * sizes.inputs + i], wanted);
        }
      Floats of_weights(test.weights.size(), 9.0F), of_more(test.more_weights.size(), 9.0F);
      Floats of_bias(sizes.outputs, 9.0F);
      const WeightGradient parts[] = {{test.rows, sizes.inputs, of_weights},
                                      {test.more_rows, sizes.more_inputs, of_more}};
      return_to_weights(gradient, parts, of_bias);
      for (std::size_t output = 0; output < sizes.outputs; ++output) {
        double bias = 0;
        for (std::size_t row = 0; row < sizes.rows; ++row)
          bias += passed(row * sizes.outputs + output);
        check_near(of_bias[output], bias);
        for (const WeightGradient& part : parts)
          for (std::size_t i = 0; i < part.inputs; ++i) {
            double wanted = 0;
            for (std::size_t row = 0; row < sizes.rows; ++row)
              wanted += passed(row * sizes.outputs + output) * part.rows[row * part.inputs + i];
            check_near(part.out[output * part.inputs + i], wanted);
          }
      }
    }
  }
}

TEST(results_do_not_depend_on_the_number_of_threads) {
  const int before = num_threads();
  const Sizes sizes{5000, 40, 24, 50};
  const Case test = make_case(sizes);
  const ResultGradient gradient{test.gradient, {}, sizes.outputs};
  std::vector<Floats> found;
  for (const int threads : {1, 2, 5}) {
    set_num_threads(threads);
    found.push_back(apply(sizes, test, true, false));
    Floats of_weights(test.weights.size()), bias(sizes.outputs);
    const WeightGradient parts[] = {{test.rows, sizes.inputs, of_weights}};
    return_to_weights(gradient, parts, bias);
    found.push_back(of_weights);
    found.push_back(bias);
  }
  set_num_threads(before);
  for (std::size_t i = 3; i < found.size(); ++i) CHECK(found[i] == found[i % 3]);
}

TEST(numbers_that_are_none_stay_none) {
  const float none = std::numeric_limits<float>::quiet_NaN();
  const Floats rows{none, 1.0F}, weights{1.0F};
  Floats out(2);
  const LinearPart parts[] = {{rows, weights, 1}};
  apply_weights(parts, {}, 1, true, out);
  CHECK(std::isnan(out[0]));
  CHECK(out[1] == 1.0F);
}

TEST(all_widths_of_vectors_give_the_same_to_rounding) {
  const Sizes sizes{100, 23, 0, 9};
  const Case test = make_case(sizes);
  // One number after the other, as the narrowest tiles have them.
  const auto multiply = [&]<class Shape>() {
    std::vector<float> panel(sizes.inputs * Shape::kColumns, 0.0F),
        out(100 * Shape::kColumns, 0.0F);
    for (std::size_t i = 0; i < sizes.inputs; ++i)
      for (std::size_t output = 0; output < std::min(sizes.outputs, Shape::kColumns); ++output)
        panel[i * Shape::kColumns + output] = test.weights[output * sizes.inputs + i];
    Shape::run([&]() __attribute__((always_inline)) {
      add_all_products<Shape>(test.rows.data(), sizes.inputs, 1, sizes.rows, panel.data(),
                              sizes.inputs, out.data(), Shape::kColumns);
    });
    return std::pair(out, Shape::kColumns);
  };
  const auto [narrow, width] = multiply.template operator()<Tile128>();
  with_tiles([&]<class Shape>() {
    const auto [wide, columns] = multiply.template operator()<Shape>();
    for (std::size_t row = 0; row < sizes.rows; ++row)
      for (std::size_t output = 0; output < 8; ++output)
        check_near(wide[row * columns + output], narrow[row * width + output]);
  });
}

TEST(sizes_that_do_not_fit_are_refused) {
  const Floats six(6, 1.0F), four(4, 1.0F);
  Floats out(6);
  const LinearPart parts[] = {{six, four, 2}};  // three rows of two columns, two outputs
  apply_weights(parts, {}, 2, false, out);
  CHECK(out[0] == 2.0F);
  CHECK_THROWS(apply_weights(parts, six, 2, false, out), std::invalid_argument);
  CHECK_THROWS(apply_weights(parts, {}, 3, false, out), std::invalid_argument);
  CHECK_THROWS(return_to_rows({six, four, 2}, four, 2, out), std::invalid_argument);
  CHECK_THROWS(return_to_rows({six, {}, 2}, six, 2, out), std::invalid_argument);
  Floats few(3);
  const WeightGradient wrong[] = {{six, 2, few}};
  CHECK_THROWS(return_to_weights({six, {}, 2}, wrong, {}), std::invalid_argument);
}
