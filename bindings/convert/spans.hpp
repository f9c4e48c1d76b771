// Functions of the core that take spans, and small values made of them, are bound as they are.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>

#include "graphmount/base/half_floats.hpp"

namespace graphmount::bindings {

/// What may be in a column: NumPy's numbers, and floats of 16 bits, which cross as their bits.
template <class Item>
concept ColumnItem = std::is_arithmetic_v<Item> || sizeof(Item) == sizeof(std::uint16_t);

template <class Item>
using CrossingItem = std::conditional_t<
    std::is_arithmetic_v<Item>, Item,
    std::conditional_t<std::is_const_v<Item>, const std::uint16_t, std::uint16_t>>;

/// A value that is made of `Parts`, which Python gives as a tuple of them.
template <class Made, class... Parts>
struct MadeOfParts {
  using Value = Made;
  using Tuple = nanobind::detail::make_caster<std::tuple<Parts...>>;
  static constexpr auto Name = Tuple::Name;
  template <class>
  using Cast = Made;
  template <class>
  static constexpr bool can_cast() {
    return true;
  }

  bool from_python(nanobind::handle source, std::uint32_t flags,
                   nanobind::detail::cleanup_list* cleanup) noexcept {
    return parts_.from_python(source, flags, cleanup);
  }
  explicit operator Made() {
    return std::apply([](const auto&... parts) { return Made{parts...}; },
                      parts_.operator std::tuple<Parts...>());
  }

 private:
  Tuple parts_;
};

}  // namespace graphmount::bindings

namespace nanobind::detail {

/// The memory of the caller, as `to_span` gives it; tests/python/project/test_caller_arrays.py says
/// of each why that is safe. It lives until the call ends, also what is converted first, and what a
/// list has that is emptied meanwhile. What the core writes to is never a copy.
template <graphmount::bindings::ColumnItem Item>
struct type_caster<std::span<Item>> {
  using Array = make_caster<
      ndarray<graphmount::bindings::CrossingItem<Item>, ndim<1>, c_contig, device::cpu>>;
  NB_TYPE_CASTER(std::span<Item>, Array::Name)

  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    if constexpr (!std::is_const_v<Item>) flags &= ~static_cast<uint32_t>(cast_flags::convert);
    if (!array_.from_python(source, flags, cleanup)) return false;
    value = {reinterpret_cast<Item*>(array_.value.data()), array_.value.size()};
    if (cleanup) cleanup->append(source.inc_ref().ptr());
    return true;
  }

 private:
  Array array_;
};

}  // namespace nanobind::detail
