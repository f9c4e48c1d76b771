// Conversions of rows: every value of the small dtypes, and which pairs there are.
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "check.hpp"
#include "graphmount/base/half_floats.hpp"
#include "graphmount/table/row_conversion.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

template <class From, class To>
std::vector<To> convert(DType from, DType to, const std::vector<From>& row,
                        const float* scales = nullptr) {
  const RowConversion conversion(from, to, row.size(), scales);
  std::vector<To> out(row.size());
  CHECK_EQUAL(conversion.out_bytes(), out.size() * sizeof(To));
  conversion.convert(reinterpret_cast<const std::byte*>(row.data()),
                     reinterpret_cast<std::byte*>(out.data()));
  return out;
}

/// By the definition of the format.
double slow_float16(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = bits & 1023;
  const double magnitude = exponent == 31  ? (fraction == 0 ? INFINITY : NAN)
                           : exponent == 0 ? std::ldexp(fraction, -24)
                                           : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

bool is_offered(DType from, DType to, const float* scales = nullptr) {
  try {
    RowConversion(from, to, 3, scales);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

}  // namespace

TEST(every_float16) {
  std::vector<std::uint16_t> all;
  for (std::uint32_t bits = 0; bits < 65536; ++bits)
    all.push_back(static_cast<std::uint16_t>(bits));
  const auto floats = convert<std::uint16_t, float>(DType::kFloat16, DType::kFloat32, all);
  const auto doubles = convert<std::uint16_t, double>(DType::kFloat16, DType::kFloat64, all);
  for (const std::uint16_t bits : all) {
    const double expected = slow_float16(bits);
    CHECK(std::isnan(expected) ? std::isnan(floats[bits]) : expected == double{floats[bits]});
    CHECK(std::isnan(expected) ? std::isnan(doubles[bits]) : expected == doubles[bits]);
    CHECK_EQUAL(std::signbit(floats[bits]), (bits & 0x8000) != 0);
    CHECK(std::isnan(expected) || value_of(Float16{bits}) == floats[bits]);
  }
}

TEST(every_bfloat16) {
  std::vector<std::uint16_t> all;
  for (std::uint32_t bits = 0; bits < 65536; ++bits)
    all.push_back(static_cast<std::uint16_t>(bits));
  const auto floats = convert<std::uint16_t, float>(DType::kBFloat16, DType::kFloat32, all);
  for (const std::uint16_t bits : all) {
    std::uint32_t wide = 0;
    std::memcpy(&wide, &floats[bits], sizeof wide);
    CHECK_EQUAL(wide, std::uint32_t{bits} << 16);
  }
}

TEST(integers_and_bools) {
  const std::vector<std::int8_t> bytes{-128, -1, 0, 127};
  CHECK((convert<std::int8_t, std::int64_t>(DType::kInt8, DType::kInt64, bytes) ==
         std::vector<std::int64_t>{-128, -1, 0, 127}));
  CHECK((convert<std::int8_t, float>(DType::kInt8, DType::kFloat32, bytes) ==
         std::vector<float>{-128, -1, 0, 127}));
  const std::vector<std::uint8_t> bools{0, 1, 7};  // a damaged byte is still true
  CHECK((convert<std::uint8_t, float>(DType::kBool, DType::kFloat32, bools) ==
         std::vector<float>{0, 1, 1}));
  CHECK((convert<std::uint8_t, std::int16_t>(DType::kUInt8, DType::kInt16, {0, 255}) ==
         std::vector<std::int16_t>{0, 255}));
  CHECK((convert<std::int64_t, double>(DType::kInt64, DType::kFloat64, {-5, 1L << 53}) ==
         std::vector<double>{-5, 0x1p53}));
}

TEST(quantized_rows) {
  const std::vector<float> scales{0.5F, 0, 2};
  const std::vector<std::int8_t> row{-127, 5, 3};
  CHECK((convert<std::int8_t, float>(DType::kInt8, DType::kFloat32, row, scales.data()) ==
         std::vector<float>{-63.5F, 0, 6}));
  CHECK((convert<std::int8_t, double>(DType::kInt8, DType::kFloat64, row, scales.data()) ==
         std::vector<double>{-63.5, 0, 6}));
  CHECK(!is_offered(DType::kInt8, DType::kInt64, scales.data()));
  CHECK_THROWS_WITH(RowConversion(DType::kInt8, DType::kInt16, 3, scales.data()),
                    std::invalid_argument, "rows of quantized int8 cannot be gathered as int16");
}

TEST(which_there_are) {
  for (const DTypeTraits& from : kDTypes) {
    CHECK(RowConversion(from.dtype, from.dtype, 3, nullptr).is_copy());
    CHECK(is_offered(from.dtype, DType::kFloat32) && is_offered(from.dtype, DType::kFloat64));
    CHECK(from.dtype == DType::kFloat16 || !is_offered(from.dtype, DType::kFloat16));
    CHECK(from.dtype == DType::kBool || !is_offered(from.dtype, DType::kBool));
  }
  CHECK(is_offered(DType::kInt32, DType::kInt64) && !is_offered(DType::kInt64, DType::kInt32));
  CHECK(is_offered(DType::kUInt8, DType::kInt16) && !is_offered(DType::kUInt8, DType::kInt8));
  CHECK(is_offered(DType::kBool, DType::kInt8) && !is_offered(DType::kInt8, DType::kUInt8));
  CHECK(!is_offered(DType::kFloat32, DType::kInt64));
  CHECK_THROWS_WITH(RowConversion(DType::kFloat32, DType::kInt8, 3, nullptr), std::invalid_argument,
                    "rows of float32 cannot be gathered as int8; choose the same, float32 or");
}
