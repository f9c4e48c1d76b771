// Numbers and times out of text: every length and neighbor, and correct rounding.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "check.hpp"
#include "graphmount/text/numbers/decimal.hpp"
#include "graphmount/text/numbers/digit_mask.hpp"
#include "graphmount/text/numbers/integer.hpp"
#include "graphmount/text/numbers/time.hpp"

using namespace graphmount;

namespace {

// What a reader makes of the text, with something behind it that must not matter.
template <class Value, class Reader>
std::string read_with(Reader reader, const std::string& text, const std::string& behind) {
  const std::string padded = text + behind + std::string(40, '7');
  Value value{};
  const char* const end = reader(padded.data(), value);
  if (end == nullptr) return "none";
  if constexpr (std::is_floating_point_v<Value>) {
    char shown[64];
    std::snprintf(shown, sizeof shown, "%.17g", value);
    return std::string(shown) + " at " + std::to_string(end - padded.data());
  } else {
    return std::to_string(value) + " at " + std::to_string(end - padded.data());
  }
}

std::string integer(const std::string& text, const std::string& behind = ",") {
  return read_with<std::int64_t>(read_integer, text, behind);
}

std::string decimal(const std::string& text) {
  const auto read = [](const char* from, double& value) {
    return read_decimal(from, from + std::strlen(from), value);
  };
  return read_with<double>(read, text, ",");
}

}  // namespace

TEST(reads_integers_of_every_length) {
  std::mt19937_64 random(1);
  for (int bits = 1; bits < 64; ++bits) {
    for (int round = 0; round < 200; ++round) {
      const auto value = static_cast<std::int64_t>(random() >> (64 - bits));
      const std::string text = std::to_string(value);
      const std::string expected = text + " at " + std::to_string(text.size());
      // Every byte that is no digit ends a number, the ones next to digits in the table as well.
      for (const char* behind : {",", "\n", "\r\n", " ", "/", ":", "\xFF\xFF\xFF\xFF", "\x80", "a9",
                                 "\xB5\xB5", "-", "\x10"}) {
        CHECK_EQUAL(integer(text, behind), expected);
        CHECK_EQUAL(read_with<std::int64_t>(read_unsigned, text, behind), expected);
      }
      if (value != 0)
        CHECK_EQUAL(integer("-" + text), "-" + text + " at " + std::to_string(text.size() + 1));
    }
  }
}

TEST(reads_every_byte_behind_a_number_as_its_end) {
  for (int byte = 0; byte < 256; ++byte) {
    if (byte >= '0' && byte <= '9') continue;
    for (std::size_t count = 1; count <= 17; ++count) {
      const std::string digits = std::string("12345678901234567").substr(0, count);
      const std::string behind(1, static_cast<char>(byte));
      CHECK_EQUAL(integer(digits, behind), digits + " at " + std::to_string(count));
      CHECK_EQUAL(read_with<std::int64_t>(read_unsigned, digits, behind),
                  digits + " at " + std::to_string(count));
    }
  }
}

TEST(finds_what_is_no_digit) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 20'000; ++round) {
    std::string text(kDigitMaskBytes, '5');
    for (char& c : text)
      if (random() % 3 == 0) c = static_cast<char>(random());
    std::uint32_t expected = 0;
    for (std::size_t i = 0; i < text.size(); ++i)
      if (text[i] < '0' || text[i] > '9') expected |= std::uint32_t{1} << i;
    CHECK_EQUAL(other_than_digits(text.data()), expected);
    for (std::size_t i = 0; i < text.size(); i += 8)
      CHECK_EQUAL(other_than_digits_in_word(text.data() + i), expected >> i & 0xFF);
  }
}

TEST(reads_numbers_of_known_length) {
  const std::string digits = "9081726354433221 000000000000000000";
  for (std::size_t start = 0; start < 16; ++start)
    for (std::size_t count = 1; start + count <= 16; ++count)
      CHECK_EQUAL(number_at(digits.data() + start, count),
                  std::stoull(digits.substr(start, count)));
}

TEST(knows_the_limits_of_integers) {
  CHECK_EQUAL(integer("9223372036854775807"), std::string("9223372036854775807 at 19"));
  CHECK_EQUAL(integer("9223372036854775808"), std::string("none"));
  CHECK_EQUAL(integer("-9223372036854775808"), std::string("-9223372036854775808 at 20"));
  CHECK_EQUAL(integer("-9223372036854775809"), std::string("none"));
  CHECK_EQUAL(integer("9999999999999999999"), std::string("none"));
  CHECK_EQUAL(integer("10000000000000000000"), std::string("none"));
  CHECK_EQUAL(integer("18446744073709551617"), std::string("none"));
  CHECK_EQUAL(integer(std::string(30, '0').append("5")), std::string("5 at 31"));
  CHECK_EQUAL(integer(std::string(40, '0')), std::string("0 at 40"));
  CHECK_EQUAL(integer(std::string(30, '0').append("9223372036854775808")), std::string("none"));
  CHECK_EQUAL(integer("-0"), std::string("0 at 2"));
  for (const char* text : {"", "-", "+5", "x", "--5", " 5", ".5"})
    CHECK_EQUAL(integer(text), std::string("none"));
  CHECK_EQUAL(read_with<std::int64_t>(read_unsigned, "-5", ","), std::string("none"));
}

TEST(reads_decimals) {
  CHECK_EQUAL(decimal("0"), std::string("0 at 1"));
  CHECK_EQUAL(decimal("-0.0"), std::string("-0 at 4"));
  CHECK_EQUAL(decimal("+1.5"), std::string("1.5 at 4"));
  CHECK_EQUAL(decimal("1."), std::string("1 at 2"));
  CHECK_EQUAL(decimal(".25"), std::string("0.25 at 3"));
  CHECK_EQUAL(decimal("1e3"), std::string("1000 at 3"));
  CHECK_EQUAL(decimal("1E+03"), std::string("1000 at 5"));
  CHECK_EQUAL(decimal("25e-2"), std::string("0.25 at 5"));
  CHECK_EQUAL(decimal("1e-400"), std::string("0 at 6"));
  CHECK_EQUAL(decimal("1e400"), std::string("inf at 5"));
  CHECK_EQUAL(decimal("1e99999999999999999999"), std::string("inf at 22"));
  CHECK_EQUAL(decimal("-1e-99999999999999999999"), std::string("-0 at 24"));
  CHECK_EQUAL(decimal("0e99999999999999999999"), std::string("0 at 22"));
  CHECK_EQUAL(decimal("4.9406564584124654e-324"), std::string("4.9406564584124654e-324 at 23"));
  for (const char* text : {"", "-", ".", "-.", "e5", "1e", "1e+", "x", ".e1", "nan", "inf"})
    CHECK_EQUAL(decimal(text), std::string("none"));
}

TEST(rounds_decimals_as_the_c_library_does) {
  std::mt19937_64 random(2);
  char text[512];
  for (int round = 0; round < 200'000; ++round) {
    double value;
    const std::uint64_t bits = random();
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value) || round % 2 == 0)
      value = static_cast<double>(static_cast<std::int64_t>(bits)) / 1e17;
    const int digits = static_cast<int>(random() % 20);
    std::snprintf(text, sizeof text, random() % 2 == 0 ? "%.*e" : "%.*g", digits, value);
    const double expected = std::strtod(text, nullptr);
    const std::string padded = std::string(text) + std::string(1, '\n') + std::string(40, '7');
    double read = -1;
    for (const auto reader : {read_decimal, read_decimal_by_strtod}) {
      read = -1;
      CHECK(reader(padded.data(), padded.data() + padded.size(), read) ==
            padded.data() + std::strlen(text));
      if (std::memcmp(&read, &expected, sizeof read) != 0) FAIL(text);
    }
  }
}

TEST(knows_the_names_of_floats) {
  const auto named = [](const std::string& text) {
    double value = 5;
    return read_named_float(text.data(), text.data() + text.size(), value) == nullptr ? 5 : value;
  };
  for (const char* text : {"nan", "NaN", "-nan", "+NAN"}) CHECK(std::isnan(named(text)));
  const double infinity = std::numeric_limits<double>::infinity();
  for (const char* text : {"inf", "Inf", "+infinity", "INFINITY"})
    CHECK_EQUAL(named(text), infinity);
  CHECK_EQUAL(named("-inf"), -infinity);
  for (const char* text : {"", "-", "in", "infin", "nan(1)", "null", "na"})
    CHECK_EQUAL(named(text), 5.0);
}

TEST(reads_times) {
  CHECK_EQUAL(parse_time("1970-01-01").value(), 0);
  CHECK_EQUAL(parse_time("1969-12-31T23:59:59.5").value(), -1);
  CHECK_EQUAL(parse_time("2024-02-29").value(), 1'709'164'800);
  CHECK_EQUAL(parse_time("2024-02-29T12:30").value(), 1'709'164'800 + 45'000);
  CHECK_EQUAL(parse_time("2024-02-29 12:30:59.250").value(), 1'709'164'800 + 45'059);
  CHECK_EQUAL(parse_time("2024-02-29T12:30:00Z").value(), 1'709'164'800 + 45'000);
  CHECK_EQUAL(parse_time("2024-02-29T12:30:00+02:00").value(), 1'709'164'800 + 37'800);
  CHECK_EQUAL(parse_time("2024-02-29T12:30:00-0130").value(), 1'709'164'800 + 50'400);
  CHECK_EQUAL(parse_time("2024-02-29T12:30:00+02").value(), 1'709'164'800 + 37'800);
  CHECK_EQUAL(parse_time("0001-01-01").value(), -62'135'596'800);
  for (const char* text : {"",
                           "2024",
                           "2024-02",
                           "2023-02-29",
                           "2024-13-01",
                           "2024-00-01",
                           "2024-01-32",
                           "24-01-01",
                           "2024-01-01T",
                           "2024-01-01T24:00",
                           "2024-01-01T12",
                           "2024-01-01T12:60",
                           "2024-1-1",
                           "2024-01-01T12:00:60",
                           "2024-01-01T12:00:00.",
                           "2024-01-01T12:00:00+",
                           "2024-01-01x",
                           "2024-01-01T12:00:00+2",
                           "2024-01-01T12:00:00Zz",
                           "2024-01-01Z",
                           "1704067200"})
    if (parse_time(text)) FAIL(text);
}
