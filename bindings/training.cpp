// Bindings of training: what layers of a model do along edges, forth and back.
#include <nanobind/nanobind.h>

#include "convert/arrays.hpp"
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

std::size_t loops(const IdColumn& starts, const IdColumn& others, std::uint64_t num_others,
                  const Out<std::int64_t>& new_starts, const Out<std::int64_t>& new_others) {
  return without_gil([&] {
    return add_self_loops(to_lists(starts, others, num_others), to_out(new_starts),
                          to_out(new_others));
  });
}

template <class Real>
void sums(const IdColumn& starts, const IdColumn& others, std::uint64_t num_others,
          std::size_t heads, std::size_t width, const Column<Real>& rows,
          const Column<Real>& factors, bool mean, const Out<Real>& out) {
  without_gil([&] {
    sum_rows<Real>(to_lists(starts, others, num_others), {heads, width}, to_span(rows),
                   to_span(factors), mean, to_out(out));
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

template <class Real>
void largest(const IdColumn& starts, const IdColumn& others, std::uint64_t num_others,
             std::size_t columns, const Column<Real>& rows, const Out<Real>& out,
             const Out<std::int32_t>& winners) {
  without_gil([&] {
    largest_rows<Real>(to_lists(starts, others, num_others), columns, to_span(rows), to_out(out),
                       to_out(winners));
  });
}

template <class Real>
void to_winners(const IdColumn& starts, const IdColumn& others, std::uint64_t num_others,
                const IdColumn& places, std::size_t columns, const Column<Real>& gradient,
                const Column<std::int32_t>& winners, const Out<Real>& out) {
  without_gil([&] {
    return_to_winners<Real>(to_lists(starts, others, num_others), to_span(places), columns,
                            to_span(gradient), to_span(winners), to_out(out));
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

template <class Real>
void bind_for(nb::module_& module) {
  module.def("sum_rows", &sums<Real>, "starts"_a, "others"_a, "num_others"_a, "heads"_a, "width"_a,
             "rows"_a, "factors"_a, "mean"_a, "out"_a);
  module.def("multiply_rows", &products<Real>, "starts"_a, "others"_a, "num_others"_a, "heads"_a,
             "width"_a, "left"_a, "right"_a, "out"_a);
  module.def("largest_rows", &largest<Real>, "starts"_a, "others"_a, "num_others"_a, "columns"_a,
             "rows"_a, "out"_a, "winners"_a);
  module.def("return_to_winners", &to_winners<Real>, "starts"_a, "others"_a, "num_others"_a,
             "places"_a, "columns"_a, "gradient"_a, "winners"_a, "out"_a);
  module.def("softmax_entries", &softmax<Real>, "starts"_a, "others"_a, "heads"_a, "scores"_a,
             "out"_a);
  module.def("softmax_gradient", &softmax_back<Real>, "starts"_a, "others"_a, "heads"_a,
             "weights"_a, "gradient"_a, "out"_a);
}

}  // namespace

void bind_training(nb::module_& module) {
  module.def("turn_edges_round", &turn, "starts"_a, "others"_a, "turned"_a, "owners"_a, "places"_a);
  module.def("add_self_loops", &loops, "starts"_a, "others"_a, "num_others"_a, "new_starts"_a,
             "new_others"_a);
  bind_for<float>(module);
  bind_for<double>(module);
}

}  // namespace graphmount::bindings
