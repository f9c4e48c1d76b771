// Arrays across the border: what comes in becomes spans, what goes out is a view with its owner.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gil.hpp"
#include "graphmount/format/format.hpp"
#include "graphmount/system/mapping/mapped_file.hpp"

namespace graphmount::bindings {

namespace nb = nanobind;

/// A one-dimensional C-contiguous NumPy array of one dtype; the Python layer sees to that.
template <class Item>
using Column = nb::ndarray<const Item, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// The memory of the caller. Another thread of the caller may write to it once the GIL is released.
/// So this is only for values that are not used as an index, and for core calls that copy what they
/// follow or check it when they follow it: tests/python/project/test_caller_arrays.py has the list.
template <class Item>
std::span<const Item> to_span(const Column<Item>& column) {
  return {column.data(), column.size()};
}

/// An argument that is copied from such an array, so that nothing changes it between its check and
/// its use.
template <class Item>
struct Copied : std::vector<Item> {};

inline nb::object to_str(const std::string& path) {
  return nb::steal(
      PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<Py_ssize_t>(path.size())));
}

/// An object that lives as long as arrays that have the capsule for their owner.
template <class Object>
std::pair<Object*, nb::capsule> to_owned(Object object) {
  auto held = std::make_unique<Object>(std::move(object));
  nb::capsule owner(held.get(),
                    [](void* pointer) noexcept { delete static_cast<Object*>(pointer); });
  return {held.release(), std::move(owner)};
}

/// A new NumPy array that owns `values`.
template <class Item>
auto to_numpy(std::vector<Item> values) {
  const auto [owned, owner] = to_owned(std::move(values));
  return nb::ndarray<nb::numpy, Item, nb::ndim<1>>(owned->data(), {owned->size()}, owner);
}

/// A new NumPy array of so many items, which fill(span of them) writes without the GIL.
template <class Item, class Fill>
auto make_array(std::size_t size, const Fill& fill) {
  std::vector<Item> out(size);
  without_gil([&] { fill(std::span(out)); });
  return to_numpy(std::move(out));
}

inline nb::dlpack::dtype to_dlpack(DType dtype) {
  using Code = nb::dlpack::dtype_code;
  constexpr std::pair<std::string_view, Code> kKinds[] = {{"float", Code::Float},
                                                          {"bfloat", Code::Bfloat},
                                                          {"int", Code::Int},
                                                          {"uint", Code::UInt},
                                                          {"bool", Code::Bool}};
  const DTypeTraits& traits = traits_of(dtype);
  const auto* kind = std::ranges::find_if(
      kKinds, [&](const auto& known) { return traits.name.starts_with(known.first); });
  return {static_cast<std::uint8_t>(kind->second), static_cast<std::uint8_t>(traits.item_bytes * 8),
          1};
}

/// NumPy has no bfloat16: there its bits are shown as uint16.
inline nb::dlpack::dtype to_numpy_dtype(DType dtype) {
  return dtype == DType::kBFloat16 ? nb::dtype<std::uint16_t>() : to_dlpack(dtype);
}

/// An array of one dimension, or of two, over memory that lives as long as the array.
template <class Memory>
nb::ndarray<nb::numpy> to_numpy(Memory memory, std::size_t num_dimensions, std::size_t rows,
                                std::size_t columns, nb::dlpack::dtype dtype) {
  const std::size_t shape[2] = {rows, columns};
  const auto [owned, owner] = to_owned(std::move(memory));
  return nb::ndarray<nb::numpy>(owned->data(), num_dimensions, shape, owner, nullptr, dtype);
}

/// A view of a section as an array of the given kind. It keeps `mapping` alive, and nothing else.
template <class Array>
Array view_section(std::shared_ptr<const MappedFile> mapping, const Section& section,
                   std::size_t num_dimensions, nb::dlpack::dtype dtype) {
  const auto [owned, owner] = to_owned(std::move(mapping));
  const std::size_t shape[2] = {static_cast<std::size_t>(section.rows),
                                static_cast<std::size_t>(section.columns)};
  return Array((*owned)->data() + section.offset, num_dimensions, shape, owner, nullptr, dtype,
               nb::device::cpu::value);
}

}  // namespace graphmount::bindings

namespace nanobind::detail {

template <class Item>
struct type_caster<graphmount::bindings::Copied<Item>> {
  using Array = make_caster<graphmount::bindings::Column<Item>>;
  NB_TYPE_CASTER(graphmount::bindings::Copied<Item>, Array::Name)

  bool from_python(handle source, uint8_t flags, cleanup_list* cleanup) {
    Array array;
    if (!array.from_python(source, flags, cleanup)) return false;
    value.assign(array.value.data(), array.value.data() + array.value.size());
    return true;
  }
};

/// Paths cross as bytes (os.fsencode), so that any name the system allows gets through.
template <>
struct type_caster<std::filesystem::path> {
  NB_TYPE_CASTER(std::filesystem::path, const_name("bytes"))

  bool from_python(handle source, uint8_t, cleanup_list*) {
    if (!isinstance<bytes>(source)) return false;
    const auto given = borrow<bytes>(source);
    value = std::string(given.c_str(), given.size());
    // The system would stop reading there, and open another file.
    if (value.native().find('\0') != std::string::npos)
      throw std::invalid_argument("the path has a null character in it");
    return true;
  }
};

}  // namespace nanobind::detail
