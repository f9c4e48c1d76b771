// Sums, products, maxima and softmax along edges, against loops that are plainly right.
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/base/random.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "graphmount/training/edge_maxima.hpp"
#include "graphmount/training/edge_softmax.hpp"
#include "graphmount/training/edge_sums.hpp"

using namespace graphmount;

namespace {

template <class Real>
struct Case {
  std::vector<std::int64_t> starts{0}, others;
  std::size_t num_rows = 0;
  RowShape shape;
  std::vector<Real> rows, factors, gradient;

  EdgeLists lists() const { return {starts, others, num_rows}; }
  std::size_t num_lists() const { return starts.size() - 1; }
};

template <class Real>
Case<Real> make_case(std::uint64_t seed, std::size_t lists, std::size_t rows, RowShape shape) {
  Draws draws{RandomKey(seed)};
  Case<Real> made;
  made.num_rows = rows;
  made.shape = shape;
  for (std::size_t list = 0; list < lists; ++list) {
    for (std::uint64_t i = draws.below(7); i > 0; --i)
      made.others.push_back(static_cast<std::int64_t>(draws.below(rows)));
    made.starts.push_back(static_cast<std::int64_t>(made.others.size()));
  }
  const auto fill = [&](std::vector<Real>& values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<Real>(draws.unit() - 0.5));
  };
  fill(made.rows, rows * shape.columns());
  fill(made.factors, made.others.size() * shape.heads);
  fill(made.gradient, lists * shape.columns());
  return made;
}

const RowShape kShapes[] = {{1, 1}, {1, 63}, {1, 64}, {1, 200}, {3, 5}, {2, 70}, {1, 0}};

}  // namespace

TEST(sums_are_those_of_plain_loops_bit_by_bit) {
  const int before = num_threads();
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    for (const RowShape shape : kShapes) {
      const auto test = make_case<float>(shape.width, 300, 50, shape);
      for (const bool is_mean : {false, true}) {
        for (const bool has_factors : {false, true}) {
          std::vector<float> out(test.num_lists() * shape.columns(), 7.0F);
          const std::vector<float> factors = has_factors ? test.factors : std::vector<float>();
          sum_rows<float>(test.lists(), shape, test.rows, factors, is_mean, out);
          for (std::size_t list = 0; list < test.num_lists(); ++list) {
            const auto range = test.lists().range(list);
            const auto count = static_cast<float>(range.end - range.begin);
            for (std::size_t column = 0; column < shape.columns(); ++column) {
              float sum = 0;
              for (std::size_t place = range.begin; place < range.end; ++place) {
                const float value = test.rows[test.lists().other(place) * shape.columns() + column];
                const std::size_t head = column / shape.width;
                const volatile float product =
                    has_factors ? test.factors[place * shape.heads + head] * value : value;
                sum += product;
              }
              if (is_mean && count > 0) sum *= 1.0F / count;
              CHECK_EQUAL(out[list * shape.columns() + column], sum);
            }
          }
        }
      }
    }
  }
  set_num_threads(before);
}

TEST(products_of_rows) {
  for (const RowShape shape : kShapes) {
    const auto test = make_case<double>(shape.width + 1, 100, 30, shape);
    std::vector<double> out(test.others.size() * shape.heads);
    multiply_rows<double>(test.lists(), shape, test.gradient, test.rows, out);
    for (std::size_t list = 0; list < test.num_lists(); ++list) {
      const auto range = test.lists().range(list);
      for (std::size_t place = range.begin; place < range.end; ++place) {
        for (std::size_t head = 0; head < shape.heads; ++head) {
          double sum = 0;
          for (std::size_t i = head * shape.width; i < (head + 1) * shape.width; ++i)
            sum += test.gradient[list * shape.columns() + i] *
                   test.rows[test.lists().other(place) * shape.columns() + i];
          CHECK(std::abs(out[place * shape.heads + head] - sum) < 1e-12);
        }
      }
    }
  }
}

namespace {

/// Against plain loops; `num_first` rows have a gradient of their own besides.
template <class Real>
void check_maxima(std::size_t columns, std::size_t num_rows, std::size_t num_first) {
  auto test = make_case<Real>(columns, 200, num_rows, {1, columns});
  for (Real& value : test.rows) value = std::floor(value * 4);  // many are equal
  test.rows[columns / 2] = std::numeric_limits<Real>::quiet_NaN();
  std::vector<Real> out(test.num_lists() * columns), back(test.num_rows * columns, 9);
  std::vector<std::int32_t> winners(out.size());
  largest_rows<Real>(test.lists(), columns, test.rows, out, winners);
  std::vector<Real> expected(back.size(), 0);
  for (std::size_t list = 0; list < test.num_lists(); ++list) {
    const auto range = test.lists().range(list);
    for (std::size_t i = 0; i < columns; ++i) {
      std::int64_t winner = -1;
      Real best = 0;
      for (std::size_t place = range.begin; place < range.end; ++place) {
        const Real value = test.rows[test.lists().other(place) * columns + i];
        if (winner >= 0 && (std::isnan(best) || value <= best)) continue;
        best = value;
        winner = static_cast<std::int64_t>(place);
      }
      const std::size_t at = list * columns + i;
      CHECK_EQUAL(static_cast<std::int64_t>(winners[at]), winner);
      CHECK(out[at] == best || (std::isnan(out[at]) && std::isnan(best)));
      if (winner >= 0)
        expected[test.lists().other(static_cast<std::size_t>(winner)) * columns + i] +=
            test.gradient[at];
    }
  }
  const std::vector<Real> of_first(
      test.rows.end() - static_cast<std::ptrdiff_t>(num_first * columns), test.rows.end());
  for (std::size_t i = 0; i < of_first.size(); ++i) expected[i] += of_first[i];
  std::vector<std::int64_t> turned(test.num_rows + 1), owners(test.others.size()),
      places(test.others.size());
  turn_round(test.lists(), turned, owners, places);
  return_to_winners<Real>({turned, owners, test.num_lists()}, places, columns, test.gradient,
                          winners, of_first, back);
  for (std::size_t i = 0; i < back.size(); ++i) CHECK_EQUAL(back[i], expected[i]);
}

}  // namespace

TEST(maxima_and_their_way_back_are_those_of_plain_loops_bit_by_bit) {
  const int before = num_threads();
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    for (const std::size_t columns : {1, 64, 100, 128}) {
      // Rows with many entries, and with one or none.
      for (const std::size_t num_rows : {40, 900}) {
        for (const std::size_t num_first : {0, 17}) {
          check_maxima<float>(columns, num_rows, num_first);
          check_maxima<double>(columns, num_rows, num_first);
        }
      }
    }
  }
  set_num_threads(before);
}

TEST(softmax_adds_up_to_one_and_its_gradient_is_that_of_differences) {
  const auto test = make_case<double>(5, 50, 20, {3, 1});
  const std::size_t size = test.others.size() * 3;
  std::vector<double> weights(size), gradient(size);
  softmax_entries<double>(test.lists(), 3, test.factors, weights);
  for (std::size_t list = 0; list < test.num_lists(); ++list) {
    const auto range = test.lists().range(list);
    for (std::size_t head = 0; head < 3 && range.end > range.begin; ++head) {
      double sum = 0;
      for (std::size_t place = range.begin; place < range.end; ++place)
        sum += weights[place * 3 + head];
      CHECK(std::abs(sum - 1) < 1e-12);
    }
  }
  std::vector<double> towards(size);
  for (std::size_t i = 0; i < size; ++i) towards[i] = std::sin(static_cast<double>(i));
  softmax_gradient<double>(test.lists(), 3, weights, towards, gradient);
  constexpr double kStep = 1e-6;
  for (std::size_t i = 0; i < size; i += 7) {
    auto scores = test.factors;
    double difference = 0;
    for (const double step : {kStep, -kStep}) {
      scores[i] = test.factors[i] + step;
      std::vector<double> moved(size);
      softmax_entries<double>(test.lists(), 3, scores, moved);
      for (std::size_t j = 0; j < size; ++j)
        difference += (step > 0 ? 1 : -1) * moved[j] * towards[j];
    }
    CHECK(std::abs(difference / (2 * kStep) - gradient[i]) < 1e-7);
  }
}

TEST(sizes_and_ids_that_do_not_fit_are_refused) {
  auto test = make_case<float>(9, 10, 5, {1, 4});
  test.others.push_back(0);
  test.starts.back() += 1;
  test.factors.push_back(1);
  std::vector<float> out(test.num_lists() * 4), few(out.size() - 1);
  std::vector<std::int32_t> winners(out.size());
  const std::vector<float> none;
  CHECK_THROWS(sum_rows<float>(test.lists(), {1, 4}, test.rows, none, false, few),
               std::invalid_argument);
  CHECK_THROWS(sum_rows<float>(test.lists(), {1, 5}, test.rows, none, false, out),
               std::invalid_argument);
  CHECK_THROWS(sum_rows<float>(test.lists(), {1, 4}, test.rows, few, false, out),
               std::invalid_argument);
  CHECK_THROWS(largest_rows<float>(test.lists(), 4, test.rows, few, winners),
               std::invalid_argument);
  CHECK_THROWS(multiply_rows<float>(test.lists(), {1, 4}, test.rows, test.rows, out),
               std::invalid_argument);
  CHECK_THROWS(softmax_entries<float>(test.lists(), 2, test.factors, out), std::invalid_argument);
  test.others.back() = 5;
  CHECK_THROWS(sum_rows<float>(test.lists(), {1, 4}, test.rows, none, false, out), IdError);
  CHECK_THROWS(largest_rows<float>(test.lists(), 4, test.rows, out, winners), IdError);
  test.others.back() = -1;
  CHECK_THROWS(sum_rows<float>(test.lists(), {1, 4}, test.rows, none, false, out), IdError);
}

TEST(floats_of_16_bits_are_summed_in_float_and_rounded_once) {
  const std::vector<std::int64_t> starts{0, 2, 2, 3}, others{0, 1, 1};
  // 1 and 2^-11 in float16: their sum lies halfway between two numbers, and goes to the even one.
  const std::vector<Float16> rows{{0x3C00}, {0x1000}};
  std::vector<Float16> out(3);
  sum_rows<Float16>({starts, others, 2}, {1, 1}, rows, {}, false, out);
  CHECK(out[0].bits == 0x3C00 && out[1].bits == 0 && out[2].bits == 0x1000);
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = value_of(Float16{half}), wide = value_of(BFloat16{half});
    if (value == value) CHECK(rounded_to<Float16>(value).bits == half);
    if (wide == wide) CHECK(rounded_to<BFloat16>(wide).bits == half);
  }
  CHECK(rounded_to<Float16>(65519.0F).bits == 0x7BFF &&
        rounded_to<Float16>(65520.0F).bits == 0x7C00);
  CHECK(std::isnan(value_of(rounded_to<Float16>(std::numeric_limits<float>::quiet_NaN()))));
  CHECK(std::isnan(value_of(rounded_to<BFloat16>(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(the_way_back_of_a_mean_divides_and_adds_to_the_first_rows) {
  const std::vector<std::int64_t> starts{0, 2, 3}, others{0, 2, 2};
  std::vector<std::int64_t> turned(4), owners(3), places(3);
  turn_round({starts, others, 3}, turned, owners, places);
  const std::vector<double> gradient{4, 10}, of_first{100};
  std::vector<double> out(3);
  return_sums<double>({turned, owners, 2}, {1, 1}, gradient, {}, starts, of_first, out);
  CHECK(out == (std::vector<double>{102, 0, 12}));
  CHECK_THROWS(return_sums<double>({turned, owners, 2}, {1, 1}, gradient, {}, turned, {}, out),
               std::invalid_argument);
}
