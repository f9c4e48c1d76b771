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

template <>
inline constexpr auto kWords<FileKind> =
    make_words<FileKind>("kind", {{"graph", FileKind::kGraph},
                                  {"features", FileKind::kFeatures},
                                  {"node ids", FileKind::kNodeIds}});

void bind_verify(nb::module_& module) {
  using nb::literals::operator""_a;
  using ProblemRow = std::tuple<std::string, std::uint64_t, std::string>;
  nb::class_<Verification>(module, "Verification")
      .def_ro("kind", &Verification::kind)
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
      [](const std::filesystem::path& path, const Progress& progress,
         const std::optional<int>& descriptor) {
        return verify_file(open_file(path, descriptor), progress);
      },
      "path"_a, "progress"_a.none(), "descriptor"_a = nb::none(), nb::call_guard<GilRelease>());
}

}  // namespace graphmount::bindings
