// Binding of the verification.
#include "graphmount/verify/verify.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "convert/arrays.hpp"
#include "convert/callbacks.hpp"
#include "convert/handles.hpp"

namespace graphmount::bindings {
namespace {

using nb::literals::operator""_a;
using ProblemRow = std::tuple<std::string, std::uint64_t, std::string>;

}  // namespace

void bind_verify(nb::module_& module) {
  nb::class_<Verification>(module, "Verification")
      .def_prop_ro("kind",
                   [](const Verification& self) {
                     return self.kind == FileKind::kGraph ? "graph" : "features";
                   })
      .def_ro("file_bytes", &Verification::file_bytes)
      .def_ro("num_problems", &Verification::num_problems)
      .def_prop_ro("problems", [](const Verification& self) {
        std::vector<ProblemRow> rows;
        for (const Problem& problem : self.problems)
          rows.emplace_back(problem.section, problem.offset, problem.message);
        return rows;
      });

  module.def(
      "verify_file",
      [](const nb::bytes& path, const std::optional<nb::callable>& progress,
         const std::optional<int>& descriptor) {
        const Progress report = to_progress(progress);
        const std::filesystem::path target = to_path(path);
        const GilRelease release;
        return verify_file(open_file(target, descriptor), report);
      },
      "path"_a, "progress"_a.none(), "descriptor"_a = nb::none());
}

}  // namespace graphmount::bindings
