// Bindings of training: what layers of a model do along edges, forth and back.
#include <nanobind/nanobind.h>

#include <bit>
#include <string>
#include <type_traits>

#include "convert/arrays.hpp"
#include "graphmount/training/dense_products.hpp"
#include "graphmount/training/edge_maxima.hpp"
#include "graphmount/training/edge_softmax.hpp"
#include "graphmount/training/edge_sums.hpp"

namespace graphmount::bindings {
namespace {

using nb::literals::operator""_a;

using IdColumn = Column<std::int64_t>;

template <class Item>
using Out = nb::ndarray<Item, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Item>
std::span<Item> to_out(const Out<Item>& out) {
  return {out.data(), out.size()};
}

EdgeLists to_lists(const IdColumn& starts, const IdColumn& others, std::uint64_t num_others) {
  return {to_span(starts), to_span(others), num_others};
}

void turn(const IdColumn& starts, const IdColumn& others, const Out<std::int64_t>& turned,
          const Out<std::int64_t>& owners, const Out<std::int64_t>& places) {
  without_gil([&] {
    turn_round(to_lists(starts, others, turned.size() - (turned.size() == 0 ? 0 : 1)),
               to_out(turned), to_out(owners), to_out(places));
  });
}

bool sound(const IdColumn& starts, const IdColumn& others, std::uint64_t num_others) {
  return without_gil([&] { return are_sound(to_lists(starts, others, num_others)); });
}

std::int64_t mark_of(const IdColumn& starts, const IdColumn& others) {
  return without_gil(
      [&] { return std::bit_cast<std::int64_t>(fingerprint(to_lists(starts, others, 0))); });
}

std::size_t loops(const IdColumn& starts, const IdColumn& others, std::uint64_t num_others,
                  const Out<std::int64_t>& new_starts, const Out<std::int64_t>& new_others) {
  return without_gil([&] {
    return add_self_loops(to_lists(starts, others, num_others), to_out(new_starts),
                          to_out(new_others));
  });
}

/// How numbers of 16 bits cross the border: as their bits.
template <class Value>
using Crossing = std::conditional_t<std::is_floating_point_v<Value>, Value, std::uint16_t>;

template <class Value>
std::span<const Value> to_values(const Column<Crossing<Value>>& column) {
  return {reinterpret_cast<const Value*>(column.data()), column.size()};
}

template <class Value>
std::span<Value> to_values(const Out<Crossing<Value>>& out) {
  return {reinterpret_cast<Value*>(out.data()), out.size()};
}

template <class Value>
void sums(const IdColumn& starts, const IdColumn& others, std::uint64_t num_others,
          std::size_t heads, std::size_t width, const Column<Crossing<Value>>& rows,
          const Column<SumType<Value>>& factors, bool mean, const Out<Crossing<Value>>& out) {
  without_gil([&] {
    sum_rows<Value>(to_lists(starts, others, num_others), {heads, width}, to_values<Value>(rows),
                    to_span(factors), mean, to_values<Value>(out));
  });
}

/// `means` are the starts of the lists before they were turned round, if they were averaged.
template <class Value>
void sums_back(const IdColumn& starts, const IdColumn& others, std::uint64_t num_others,
               std::size_t heads, std::size_t width, const Column<Crossing<Value>>& gradient,
               const Column<SumType<Value>>& factors, const IdColumn& means,
               const Column<Crossing<Value>>& of_first, const Out<Crossing<Value>>& out) {
  without_gil([&] {
    return_sums<Value>(to_lists(starts, others, num_others), {heads, width},
                       to_values<Value>(gradient), to_span(factors), to_span(means),
                       to_values<Value>(of_first), to_values<Value>(out));
  });
}

template <class Real>
void products(const IdColumn& starts, const IdColumn& others, std::uint64_t num_others,
              std::size_t heads, std::size_t width, const Column<Real>& left,
              const Column<Real>& right, const Out<Real>& out) {
  without_gil([&] {
    multiply_rows<Real>(to_lists(starts, others, num_others), {heads, width}, to_span(left),
                        to_span(right), to_out(out));
  });
}

template <class Value>
void largest(const IdColumn& starts, const IdColumn& others, std::uint64_t num_others,
             std::size_t columns, const Column<Crossing<Value>>& rows,
             const Out<Crossing<Value>>& out, const Out<std::int32_t>& winners) {
  without_gil([&] {
    largest_rows<Value>(to_lists(starts, others, num_others), columns, to_values<Value>(rows),
                        to_values<Value>(out), to_out(winners));
  });
}

template <class Value>
void to_winners(const IdColumn& starts, const IdColumn& others, std::uint64_t num_others,
                const IdColumn& places, std::size_t columns,
                const Column<Crossing<Value>>& gradient, const Column<std::int32_t>& winners,
                const Column<Crossing<Value>>& of_first, const Out<Crossing<Value>>& out) {
  without_gil([&] {
    return_to_winners<Value>(to_lists(starts, others, num_others), to_span(places), columns,
                             to_values<Value>(gradient), to_span(winners),
                             to_values<Value>(of_first), to_values<Value>(out));
  });
}

template <class Real>
void softmax(const IdColumn& starts, const IdColumn& others, std::size_t heads,
             const Column<Real>& scores, const Out<Real>& out) {
  without_gil([&] {
    softmax_entries<Real>(to_lists(starts, others, UINT64_MAX), heads, to_span(scores),
                          to_out(out));
  });
}

template <class Real>
void softmax_back(const IdColumn& starts, const IdColumn& others, std::size_t heads,
                  const Column<Real>& weights, const Column<Real>& gradient, const Out<Real>& out) {
  without_gil([&] {
    softmax_gradient<Real>(to_lists(starts, others, UINT64_MAX), heads, to_span(weights),
                           to_span(gradient), to_out(out));
  });
}

/// What layers do with rows; those of 16 bits have calls of their own, named by `kind`.
template <class Value>
void bind_rows(nb::module_& module, const std::string& kind = "") {
  module.def(("sum_rows" + kind).c_str(), &sums<Value>, "starts"_a, "others"_a, "num_others"_a,
             "heads"_a, "width"_a, "rows"_a, "factors"_a, "mean"_a, "out"_a);
  module.def(("return_sums" + kind).c_str(), &sums_back<Value>, "starts"_a, "others"_a,
             "num_others"_a, "heads"_a, "width"_a, "gradient"_a, "factors"_a, "means"_a,
             "of_first"_a, "out"_a);
  module.def(("largest_rows" + kind).c_str(), &largest<Value>, "starts"_a, "others"_a,
             "num_others"_a, "columns"_a, "rows"_a, "out"_a, "winners"_a);
  module.def(("return_to_winners" + kind).c_str(), &to_winners<Value>, "starts"_a, "others"_a,
             "num_others"_a, "places"_a, "columns"_a, "gradient"_a, "winners"_a, "of_first"_a,
             "out"_a);
}

template <class Real>
void bind_attention(nb::module_& module) {
  module.def("multiply_rows", &products<Real>, "starts"_a, "others"_a, "num_others"_a, "heads"_a,
             "width"_a, "left"_a, "right"_a, "out"_a);
  module.def("softmax_entries", &softmax<Real>, "starts"_a, "others"_a, "heads"_a, "scores"_a,
             "out"_a);
  module.def("softmax_gradient", &softmax_back<Real>, "starts"_a, "others"_a, "heads"_a,
             "weights"_a, "gradient"_a, "out"_a);
}

using Floats = Column<float>;

/// Of two parts, the second of which has no inputs if there is none.
void apply(const Floats& rows, const Floats& weights, std::size_t inputs, const Floats& more_rows,
           const Floats& more_weights, std::size_t more_inputs, const Floats& bias,
           std::size_t outputs, bool relu, const Out<float>& out) {
  const LinearPart parts[] = {{to_span(rows), to_span(weights), inputs},
                              {to_span(more_rows), to_span(more_weights), more_inputs}};
  const std::span<const LinearPart> used(parts, more_inputs == 0 ? 1 : 2);
  without_gil([&] { apply_weights(used, to_span(bias), outputs, relu, to_out(out)); });
}

void to_rows(const Floats& gradient, const Floats& results, const Floats& weights,
             std::size_t outputs, std::size_t inputs, const Out<float>& out) {
  without_gil([&] {
    return_to_rows({to_span(gradient), to_span(results), outputs}, to_span(weights), inputs,
                   to_out(out));
  });
}

void to_weights(const Floats& gradient, const Floats& results, std::size_t outputs,
                const Floats& rows, std::size_t inputs, const Out<float>& out,
                const Floats& more_rows, std::size_t more_inputs, const Out<float>& more_out,
                const Out<float>& bias) {
  const WeightGradient parts[] = {{to_span(rows), inputs, to_out(out)},
                                  {to_span(more_rows), more_inputs, to_out(more_out)}};
  const std::span<const WeightGradient> used(parts, more_inputs == 0 ? 1 : 2);
  without_gil([&] {
    return_to_weights({to_span(gradient), to_span(results), outputs}, used, to_out(bias));
  });
}

}  // namespace

void bind_training(nb::module_& module) {
  module.def("turn_edges_round", &turn, "starts"_a, "others"_a, "turned"_a, "owners"_a, "places"_a);
  module.def("are_lists_sound", &sound, "starts"_a, "others"_a, "num_others"_a);
  module.def("fingerprint_of_lists", &mark_of, "starts"_a, "others"_a);
  module.def("add_self_loops", &loops, "starts"_a, "others"_a, "num_others"_a, "new_starts"_a,
             "new_others"_a);
  module.def("has_fast_products", &has_fast_products);
  module.def("apply_weights", &apply, "rows"_a, "weights"_a, "inputs"_a, "more_rows"_a,
             "more_weights"_a, "more_inputs"_a, "bias"_a, "outputs"_a, "relu"_a, "out"_a);
  module.def("return_to_rows", &to_rows, "gradient"_a, "results"_a, "weights"_a, "outputs"_a,
             "inputs"_a, "out"_a);
  module.def("return_to_weights", &to_weights, "gradient"_a, "results"_a, "outputs"_a, "rows"_a,
             "inputs"_a, "out"_a, "more_rows"_a, "more_inputs"_a, "more_out"_a, "bias"_a);
  bind_rows<float>(module);
  bind_rows<double>(module);
  bind_rows<Float16>(module, "_float16");
  bind_rows<BFloat16>(module, "_bfloat16");
  bind_attention<float>(module);
  bind_attention<double>(module);
}

}  // namespace graphmount::bindings
