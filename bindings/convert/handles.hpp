// What the bindings of both kinds of mounted file have in common.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "convert/arrays.hpp"
#include "convert/callbacks.hpp"
#include "convert/words.hpp"
#include "graphmount/format/mount.hpp"
#include "graphmount/system/files/file_descriptor.hpp"

namespace graphmount::bindings {

template <>
inline constexpr auto kWords<Advice> =
    make_words<Advice>("advice", {{"normal", Advice::kNormal},
                                  {"random", Advice::kRandom},
                                  {"sequential", Advice::kSequential},
                                  {"willneed", Advice::kWillNeed},
                                  {"populate", Advice::kPopulate}});

/// The file at a path; or a file that is open already, whatever is at its path by now.
inline std::shared_ptr<MappedFile> open_file(const std::filesystem::path& path,
                                             const std::optional<int>& descriptor) {
  return descriptor ? MappedFile::open(*descriptor, path) : MappedFile::open(path);
}

using SectionRow = std::tuple<std::string, std::string, std::uint64_t, std::uint64_t, std::uint64_t,
                              std::uint64_t>;

inline std::vector<SectionRow> section_rows(const Header& header) {
  std::vector<SectionRow> rows;
  for (const Section& section : header.sections) {
    const DTypeTraits* dtype = find_dtype(static_cast<std::uint16_t>(section.dtype));
    rows.emplace_back(section.name(), dtype == nullptr ? "unknown" : dtype->name, section.offset,
                      section.bytes, section.rows, section.columns);
  }
  return rows;
}

/// A section that may be written to, in this process alone; and whether that is safe: false where
/// the system refused a private mapping.
inline std::tuple<nb::ndarray<nb::numpy>, bool> private_view(const Mount& mount,
                                                             const Section& section,
                                                             std::size_t num_dimensions,
                                                             nb::dlpack::dtype dtype) {
  auto mapping = mount.map_for_view(MapMode::kPrivate);
  const bool is_writable = mapping->is_writable();
  return {view_section<nb::ndarray<nb::numpy>>(std::move(mapping), section, num_dimensions, dtype),
          is_writable};
}

/// Adds the members that Graph and Features share. `Handle` has a `mount()`.
template <class Handle>
void bind_mount(nb::class_<Handle>& cls) {
  using nb::literals::operator""_a;
  cls.def_prop_ro("file_bytes", [](const Handle& handle) { return handle.mount().file().size(); })
      .def_prop_ro("order", [](const Handle& handle) { return handle.mount().header().order; })
      // The caller closes it. It leads to the mounted file, whatever is at the path by now.
      .def("open_descriptor",
           [](const Handle& handle) {
             const MappedFile& file = handle.mount().file();
             FileDescriptor again = file.open_again(O_RDONLY);
             if (!again) throw IoError(file.path(), "cannot open once more", errno);
             return again.release();
           })
      .def_prop_ro("checksum",
                   [](const Handle& handle) { return handle.mount().header().checksum; })
      .def_prop_ro("sections",
                   [](const Handle& handle) { return section_rows(handle.mount().header()); })
      .def(
          "advise",
          [](const Handle& handle, Advice advice, const Progress& progress) {
            handle.mount().advise(advice, progress);
          },
          "advice"_a, "progress"_a.none(), nb::call_guard<GilRelease>())
      .def(
          "resident_bytes", [](const Handle& handle) { return handle.mount().resident_bytes(); },
          nb::call_guard<GilRelease>());
}

}  // namespace graphmount::bindings
