#include "graphmount/table/row_conversion.hpp"

#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "graphmount/base/half_floats.hpp"

namespace graphmount {
namespace {

/// A dtype that C++ has no type for: any byte but 0 is true.
struct Bool {
  std::uint8_t byte;
};

using graphmount::value_of;
inline std::uint8_t value_of(Bool value) {
  return value.byte != 0;
}

template <class From, class To>
void convert_values(const std::byte* row, std::byte* out, std::uint64_t columns, const float*) {
  const auto* from = reinterpret_cast<const From*>(row);
  auto* to = reinterpret_cast<To*>(out);
  for (std::uint64_t i = 0; i < columns; ++i) to[i] = static_cast<To>(value_of(from[i]));
}

template <class To>
void scale_values(const std::byte* row, std::byte* out, std::uint64_t columns,
                  const float* scales) {
  const auto* from = reinterpret_cast<const std::int8_t*>(row);
  auto* to = reinterpret_cast<To*>(out);
  for (std::uint64_t i = 0; i < columns; ++i)
    to[i] = static_cast<To>(from[i]) * static_cast<To>(scales[i]);
}

using Convert = void (*)(const std::byte*, std::byte*, std::uint64_t, const float*);

/// To floats from anything, to integers from those whose values all fit.
template <class From, class To>
Convert conversion() {
  using Value = decltype(value_of(From{}));
  if constexpr (std::is_floating_point_v<To> ||
                (std::is_integral_v<To> && std::is_same_v<From, Bool>)) {
    return &convert_values<From, To>;
  } else if constexpr (std::is_integral_v<To> && std::is_integral_v<Value>) {
    if constexpr (std::in_range<To>(std::numeric_limits<Value>::min()) &&
                  std::in_range<To>(std::numeric_limits<Value>::max()))
      return &convert_values<From, To>;
  }
  return nullptr;
}

/// What `use` gives for a value of the type that a dtype has here.
template <class Use>
Convert with_type_of(DType dtype, const Use& use) {
  switch (dtype) {
    case DType::kFloat32:
      return use(float{});
    case DType::kFloat64:
      return use(double{});
    case DType::kFloat16:
      return use(Float16{});
    case DType::kBFloat16:
      return use(BFloat16{});
    case DType::kInt8:
      return use(std::int8_t{});
    case DType::kInt16:
      return use(std::int16_t{});
    case DType::kInt32:
      return use(std::int32_t{});
    case DType::kInt64:
      return use(std::int64_t{});
    case DType::kUInt8:
      return use(std::uint8_t{});
    case DType::kBool:
      return use(Bool{});
  }
  return nullptr;
}

Convert find_conversion(DType from, DType to) {
  return with_type_of(from, [&]<class From>(From) {
    return with_type_of(to, []<class To>(To) { return conversion<From, To>(); });
  });
}

}  // namespace

RowConversion::RowConversion(DType from, DType to, std::uint64_t columns, const float* scales)
    : columns_(columns), out_bytes_(columns * traits_of(to).item_bytes), scales_(scales) {
  if (from == to) return;
  if (scales == nullptr)
    convert_ = find_conversion(from, to);
  else if (to == DType::kFloat32)
    convert_ = &scale_values<float>;
  else if (to == DType::kFloat64)
    convert_ = &scale_values<double>;
  if (convert_ != nullptr) return;
  const std::string what = scales == nullptr ? "" : "quantized ";
  throw std::invalid_argument("rows of " + what + std::string(traits_of(from).name) +
                              " cannot be gathered as " + std::string(traits_of(to).name) +
                              "; choose the same, float32 or float64" +
                              (scales == nullptr ? ", or for integers a wider integer" : ""));
}

void RowConversion::convert(const std::byte* row, std::byte* out) const {
  if (convert_ == nullptr)
    std::memcpy(out, row, out_bytes_);
  else
    convert_(row, out, columns_, scales_);
}

}  // namespace graphmount
