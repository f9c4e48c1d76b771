// The extension module graphmount._core: everything the Python layer needs of the core. It is
// private; users see the classes and functions of the package.
#include <nanobind/nanobind.h>

#include "convert/arrays.hpp"
#include "gil.hpp"
#include "graphmount/system/threads/parallel.hpp"

namespace graphmount::bindings {

void bind_errors();
void bind_base(nb::module_& module);
void bind_system(nb::module_& module);
void bind_graph(nb::module_& module);
void bind_ids(nb::module_& module);
void bind_table(nb::module_& module);
void bind_text(nb::module_& module);
void bind_compile(nb::module_& module);
void bind_parts(nb::module_& module);
void bind_sampling(nb::module_& module);
void bind_loading(nb::module_& module);
void bind_training(nb::module_& module);
void bind_verify(nb::module_& module);

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
  bindings::bind_base(module);
  bindings::bind_system(module);
  bindings::bind_graph(module);
  bindings::bind_ids(module);
  bindings::bind_table(module);
  bindings::bind_text(module);
  bindings::bind_compile(module);
  bindings::bind_parts(module);
  bindings::bind_sampling(module);
  bindings::bind_loading(module);
  bindings::bind_training(module);
  bindings::bind_verify(module);
  module.def("close_gate", &bindings::close_gate);
  module.def("num_threads", &num_threads);
  module.def("start_threads", &start_threads);
  module.def("set_num_threads", &set_num_threads, "count"_a);
}
