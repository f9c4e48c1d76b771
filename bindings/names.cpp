// Lists of str to columns and back: a million strings are two arrays, not a million objects.
#include "names.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>

#include <string_view>
#include <utility>

namespace graphmount::bindings {
namespace {

using nb::literals::operator""_a;

// Raises TypeError for what is no str, UnicodeEncodeError for what is no text.
auto join_names(const nb::list& texts) {
  std::vector<std::int64_t> offsets = {0};
  std::vector<std::uint8_t> bytes;
  offsets.reserve(texts.size() + 1);
  for (const nb::handle text : texts) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (data == nullptr) throw nb::python_error();
    bytes.insert(bytes.end(), data, data + size);
    offsets.push_back(static_cast<std::int64_t>(bytes.size()));
  }
  return std::pair(to_numpy(std::move(offsets)), to_numpy(std::move(bytes)));
}

nb::list split_names(const Column<std::int64_t>& offsets, const Column<std::uint8_t>& bytes) {
  const CallerNames given = to_names(offsets, bytes);
  const NameColumn names = given.column();
  const auto size = static_cast<Py_ssize_t>(names.size());
  nb::list texts = nb::steal<nb::list>(PyList_New(size));
  if (!texts.is_valid()) throw nb::python_error();
  for (Py_ssize_t i = 0; i < size; ++i) {
    const std::string_view name = names[static_cast<std::size_t>(i)];
    PyObject* text =
        PyUnicode_DecodeUTF8(name.data(), static_cast<Py_ssize_t>(name.size()), nullptr);
    if (text == nullptr) throw nb::python_error();
    PyList_SetItem(texts.ptr(), i, text);  // takes the reference
  }
  return texts;
}

}  // namespace

void bind_names(nb::module_& module) {
  module.def("join_names", &join_names, "texts"_a);
  module.def("split_names", &split_names, "offsets"_a, "bytes"_a);
}

}  // namespace graphmount::bindings
