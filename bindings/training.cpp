// Bindings of training: what layers of a model do along edges, forth and back.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <bit>
#include <string>

#include "convert/spans.hpp"
#include "gil.hpp"
#include "graphmount/training/dense_products.hpp"
#include "graphmount/training/edge_maxima.hpp"
#include "graphmount/training/edge_softmax.hpp"
#include "graphmount/training/edge_sums.hpp"

namespace nanobind::detail {

using graphmount::bindings::MadeOfParts;
using Floats = std::span<const float>;
using Ids = std::span<const std::int64_t>;

template <>
struct type_caster<graphmount::EdgeLists>
    : MadeOfParts<graphmount::EdgeLists, Ids, Ids, std::uint64_t> {};
template <>
struct type_caster<graphmount::RowShape>
    : MadeOfParts<graphmount::RowShape, std::size_t, std::size_t> {};
template <>
struct type_caster<graphmount::LinearPart>
    : MadeOfParts<graphmount::LinearPart, Floats, Floats, std::size_t> {};
template <>
struct type_caster<graphmount::ResultGradient>
    : MadeOfParts<graphmount::ResultGradient, Floats, Floats, std::size_t> {};
template <>
struct type_caster<graphmount::WeightGradient>
    : MadeOfParts<graphmount::WeightGradient, Floats, std::size_t, std::span<float>> {};

}  // namespace nanobind::detail

namespace graphmount::bindings {
namespace {

namespace nb = nanobind;
using nb::literals::operator""_a;

constexpr nb::call_guard<GilRelease> kWithoutGil;

/// As a number of NumPy's, which the edges are compared with.
std::int64_t fingerprint_of(const EdgeLists& lists) {
  return std::bit_cast<std::int64_t>(fingerprint(lists));
}

/// The loops over rows of one dtype. Python calls those of 16 bits by their names, since both
/// cross as uint16.
template <class Value>
void bind_rows(nb::module_& module, const std::string& kind = "") {
  module.def(("sum_rows" + kind).c_str(), &sum_rows<Value>, "lists"_a, "shape"_a, "rows"_a,
             "factors"_a, "mean"_a, "out"_a, kWithoutGil);
  module.def(("return_sums" + kind).c_str(), &return_sums<Value>, "turned"_a, "shape"_a,
             "gradient"_a, "factors"_a, "means"_a, "of_first"_a, "out"_a, kWithoutGil);
  module.def(("largest_rows" + kind).c_str(), &largest_rows<Value>, "lists"_a, "columns"_a,
             "rows"_a, "out"_a, "winners"_a, kWithoutGil);
  module.def(("return_to_winners" + kind).c_str(), &return_to_winners<Value>, "turned"_a,
             "places"_a, "columns"_a, "gradient"_a, "winners"_a, "of_first"_a, "out"_a,
             kWithoutGil);
}

template <class Real>
void bind_attention(nb::module_& module) {
  module.def("multiply_rows", &multiply_rows<Real>, "lists"_a, "shape"_a, "left"_a, "right"_a,
             "out"_a, kWithoutGil);
  module.def("softmax_entries", &softmax_entries<Real>, "lists"_a, "heads"_a, "scores"_a, "out"_a,
             kWithoutGil);
  module.def("softmax_gradient", &softmax_gradient<Real>, "lists"_a, "heads"_a, "weights"_a,
             "gradient"_a, "out"_a, kWithoutGil);
}

}  // namespace

void bind_training(nb::module_& module) {
  module.def("turn_edges_round", &turn_round, "lists"_a, "turned"_a, "owners"_a, "places"_a,
             kWithoutGil);
  module.def("are_lists_sound", &are_sound, "lists"_a, kWithoutGil);
  module.def("fingerprint_of_lists", &fingerprint_of, "lists"_a, kWithoutGil);
  module.def("add_self_loops", &add_self_loops, "lists"_a, "new_starts"_a, "new_others"_a,
             kWithoutGil);
  module.def("has_fast_products", &has_fast_products);
  module.def(
      "apply_weights",
      [](const std::vector<LinearPart>& parts, std::span<const float> bias, std::size_t outputs,
         bool relu, std::span<float> out) { apply_weights(parts, bias, outputs, relu, out); },
      "parts"_a, "bias"_a, "outputs"_a, "relu"_a, "out"_a, kWithoutGil);
  module.def("return_to_rows", &return_to_rows, "gradient"_a, "weights"_a, "inputs"_a, "out"_a,
             kWithoutGil);
  module.def(
      "return_to_weights",
      [](const ResultGradient& gradient, const std::vector<WeightGradient>& parts,
         std::span<float> bias) { return_to_weights(gradient, parts, bias); },
      "gradient"_a, "parts"_a, "bias"_a, kWithoutGil);
  bind_rows<float>(module);
  bind_rows<double>(module);
  bind_rows<Float16>(module, "_float16");
  bind_rows<BFloat16>(module, "_bfloat16");
  bind_attention<float>(module);
  bind_attention<double>(module);
}

}  // namespace graphmount::bindings
