// The extension module graphmount._core: everything the Python layer needs of the core. It is
// private; users see the classes and functions of the package.
#include <nanobind/nanobind.h>

#include "arrays.hpp"
#include "gil.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount::bindings {

void bind_checksum(nb::module_& module);
void bind_disk_probe(nb::module_& module);
void bind_edge_search(nb::module_& module);
void bind_errors();
void bind_features(nb::module_& module);
void bind_graph(nb::module_& module);
void bind_random(nb::module_& module);
void bind_random_walk(nb::module_& module);
void bind_row_scatter(nb::module_& module);
void bind_sampling(nb::module_& module);
void bind_seeds(nb::module_& module);
void bind_text(nb::module_& module);
void bind_verify(nb::module_& module);
void bind_loader(nb::module_& module);
void bind_graph_compiler(nb::module_& module);
void bind_id_maps(nb::module_& module);
void bind_names(nb::module_& module);
void bind_negative_sampling(nb::module_& module);
void bind_node_ids(nb::module_& module);
void bind_writers(nb::module_& module);

}  // namespace graphmount::bindings

NB_MODULE(_core, module) {
  using namespace graphmount;
  using nanobind::literals::operator""_a;
#if !defined(__SANITIZE_ADDRESS__)
  // In workers of torch's DataLoader nanobind finds mounted files alive at the end of the process,
  // which frees them anyway. No user can do anything about its warnings. Tests under sanitizers,
  // which have no torch, would still hear of a leak.
  nanobind::set_leak_warnings(false);
#endif
  bindings::bind_errors();
  bindings::bind_features(module);
  bindings::bind_graph(module);
  bindings::bind_edge_search(module);
  bindings::bind_negative_sampling(module);
  bindings::bind_names(module);
  bindings::bind_node_ids(module);
  bindings::bind_random(module);
  bindings::bind_checksum(module);
  bindings::bind_sampling(module);
  bindings::bind_random_walk(module);
  bindings::bind_text(module);
  bindings::bind_verify(module);
  bindings::bind_graph_compiler(module);
  bindings::bind_id_maps(module);
  bindings::bind_writers(module);
  bindings::bind_row_scatter(module);
  bindings::bind_seeds(module);
  bindings::bind_loader(module);
  bindings::bind_disk_probe(module);
  module.def("close_gate", &bindings::close_gate);
  module.def("num_threads", &num_threads);
  module.def("start_threads", &start_threads);
  module.def("set_num_threads", &set_num_threads, "count"_a);
}
