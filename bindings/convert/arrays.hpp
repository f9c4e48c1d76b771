// Arrays across the border: what comes in becomes spans, what goes out is a view with its owner.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
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

/// The memory of the caller, who may have another thread write to it once the GIL is released. For
/// values that nothing is looked up by, and for core calls that copy what they follow, or check it
/// when they follow it: tests/python/test_caller_arrays.py has the list.
template <class Item>
std::span<const Item> to_span(const Column<Item>& column) {
  return {column.data(), column.size()};
}

/// A copy, which nobody changes between its check and its use.
template <class Item>
std::vector<Item> to_vector(const Column<Item>& column) {
  return {column.data(), column.data() + column.size()};
}

/// Paths cross as bytes (os.fsencode), so that any name the system allows gets through.
inline std::filesystem::path to_path(const nb::bytes& path) {
  std::string text(path.c_str(), path.size());
  // The system would stop reading there, and open another file.
  if (text.find('\0') != std::string::npos)
    throw std::invalid_argument("the path has a null character in it");
  return text;
}

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
  Code code = Code::Int;
  switch (dtype) {
    case DType::kFloat32:
    case DType::kFloat64:
    case DType::kFloat16:
      code = Code::Float;
      break;
    case DType::kBFloat16:
      code = Code::Bfloat;
      break;
    case DType::kUInt8:
      code = Code::UInt;
      break;
    case DType::kBool:
      code = Code::Bool;
      break;
    default:
      break;
  }
  return {static_cast<std::uint8_t>(code),
          static_cast<std::uint8_t>(traits_of(dtype).item_bytes * 8), 1};
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
