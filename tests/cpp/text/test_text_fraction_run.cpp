// Runs of fractions: the same numbers as one by one, whatever stands among them.
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "graphmount/text/lines/plain_lines.hpp"
#include "graphmount/text/numbers/decimal.hpp"
#include "graphmount/text/numbers/fraction_run.hpp"
#include "graphmount/text/numbers/fraction_run_avx512.hpp"

using namespace graphmount;

namespace {

// The text of a random number: the shortest one of a float, or of so many digits.
std::string random_number(std::mt19937_64& random) {
  char text[64];
  if (random() % 2 == 0) {
    auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isfinite(value)) value = 0;
    int exponent = 0;
    if (random() % 4 != 0)
      value = std::ldexp(std::frexp(value, &exponent), static_cast<int>(random() % 9) - 4);
    return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
  }
  std::string digits = random() % 2 == 0 ? "-" : "";
  for (std::size_t i = random() % 10 + 1; i > 0; --i)
    digits += static_cast<char>('0' + random() % 10);
  if (random() % 4 == 0) return digits;
  digits += '.';
  for (std::size_t i = random() % 10 + 1; i > 0; --i)
    digits += static_cast<char>('0' + random() % 10);
  return digits;
}

template <class Item>
using RunReader = std::size_t (*)(const char*&, std::size_t, char, std::byte*);

// Reads the fields as a run, and those at which it stops by themselves; each must be what
// read_decimal says, to the bit. Returns how many the run has left out.
template <class Item>
std::size_t check_run_by(RunReader<Item> read_run, const std::vector<std::string>& fields,
                         const std::string& line_end) {
  std::string text(kRunBytesBefore, '9');
  for (const std::string& field : fields) text += field + ',';
  text.pop_back();
  text += line_end + std::string(kTextPadding, '7');
  const char* p = text.data() + kRunBytesBefore;
  std::vector<Item> items(fields.size() + 1, Item{77});
  std::size_t left_out = 0;
  for (std::size_t at = 0; at < fields.size();) {
    const std::size_t count =
        read_run(p, fields.size() - at, ',', reinterpret_cast<std::byte*>(items.data() + at));
    for (std::size_t end = at + count; at < end; ++at) {
      double expected = 0;
      const char* const field_end = fields[at].data() + fields[at].size();
      if (read_decimal(fields[at].data(), field_end, expected) != field_end) FAIL(fields[at]);
      const auto item = static_cast<Item>(expected);
      if (std::memcmp(&items[at], &item, sizeof item) != 0) FAIL(fields[at]);
    }
    if (at == fields.size()) break;
    ++left_out;
    CHECK(std::string_view(p).starts_with(fields[at]));
    p += fields[at].size() + 1;
    ++at;
    if (at == fields.size()) --p;
  }
  CHECK(std::string_view(p).starts_with(line_end));
  CHECK_EQUAL(items.back(), Item{77});
  return left_out;
}

// The same by each way to read a run that this machine has.
template <class Item>
std::size_t check_run(const std::vector<std::string>& fields, const std::string& line_end) {
#ifdef GRAPHMOUNT_HAS_AVX512_RUNS
  if (can_read_by_avx512()) check_run_by<Item>(read_run_by_avx512<Item>, fields, line_end);
#endif
  return check_run_by<Item>(read_fraction_run<Item>, fields, line_end);
}

}  // namespace

TEST(reads_numbers_as_one_by_one) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::string> fields(random() % 20 + 1);
    for (std::string& field : fields) field = random_number(random);
    check_run<float>(fields, round % 2 == 0 ? "\n" : "\r\n");
    check_run<double>(fields, ",text\n");
  }
}

TEST(reads_long_runs_as_one_by_one) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::string> fields(random() % 700 + 1);
    // From none to many integers, exponents and others among the fractions.
    const std::size_t num_odd = std::size_t{1} << random() % 8;
    for (std::string& field : fields) {
      field = std::to_string(static_cast<double>(random() % 4'000'000) / 1e6 - 2);
      if (random() % 128 < num_odd) field = random_number(random);
      if (random() % 128 < num_odd) field = std::to_string(random() % 1'000'000'000);
    }
    check_run<float>(fields, "\n");
    check_run<double>(fields, "\r\n");
  }
}

TEST(rounds_numbers_in_the_middle_of_two_floats_as_one_by_one) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 2'000; ++round) {
    std::vector<std::string> fields(random() % 40 + 1);
    for (std::string& field : fields) {
      // The middle between a float and the next, and what is close to it, in 15 digits at most.
      const auto value = std::ldexp(static_cast<float>((1U << 23) + random() % (1U << 23)),
                                    -static_cast<int>(random() % 24 + 14));
      const double next = std::nextafter(value, 1e9F);
      const double middle = (value + next) / 2 + static_cast<double>(random() % 3) * 1e-14 - 1e-14;
      char text[64];
      const int behind = 14 - static_cast<int>(random() % 3);
      field = std::string(random() % 2 == 0 ? "-" : "") +
              std::string(text, std::to_chars(text, text + sizeof text, middle,
                                              std::chars_format::fixed, behind)
                                    .ptr);
      if (random() % 4 == 0)  // exact: halves between floats of more than 24 bits
        field = std::to_string((1U << 24) + random() % (1U << 24)) + (random() % 2 ? ".0" : ".5");
    }
    check_run<float>(fields, "\n");
    check_run<double>(fields, "\r\n");
  }
}

TEST(leaves_out_what_is_not_plain) {
  const std::vector<std::string> odd = {
      "",
      "-",
      "+1",
      ".5",
      "-.5",
      "5.",
      ".",
      "-.",
      "--1",
      "1..5",
      "1.5.2",
      "1-2",
      "1.-5",
      "1e5",
      "1.5e-3",
      "nan",
      "-inf",
      " 1",
      "1 ",
      "\"1\"",
      "1.5-",
      "-1.5e",
      "1.2x",
      "1/2",
      "0x10",
      "1:5",
      "\xB5",
      "1.\xB5",
      "1234567890123456",
      "0.1234567890123456",
      "-0.0",
      "0",
      "-0",
      "1.5",
      "-123.25",
      "1.00000000000000000000000000000000000000000000000000000000000000000000000000000000001"};
  std::mt19937_64 random(6);
  for (int round = 0; round < 50'000; ++round) {
    const bool is_long = round % 50 == 0;
    std::vector<std::string> fields(random() % (is_long ? 300 : 9) + 1);
    for (std::string& field : fields)
      field =
          random() % (is_long ? 30 : 3) == 0 ? odd[random() % odd.size()] : random_number(random);
    check_run<float>(fields, "\n");
  }
}

#ifdef __SSE2__
TEST(takes_all_that_is_plain) {
  CHECK_EQUAL(check_run<float>({"0.13210486", "-1.5", "3", "-0.0", "12345678.1234567", "-7"}, "\n"),
              0U);
  CHECK_EQUAL(check_run<float>({"1.5", "1e-05", "2.5", "3.25", "1e-05"}, "\n"), 2U);
}
#endif

#ifdef GRAPHMOUNT_HAS_AVX512_RUNS
TEST(takes_all_plain_fractions_by_avx512) {
  if (!can_read_by_avx512()) return;
  std::vector<std::string> fields = {"0.13210486", "-1.5", "-0.0", "1234567.1234567", "0.5"};
  for (int i = 0; i < 1000; ++i) fields.push_back(std::to_string(i * 0.37 - 100));
  CHECK_EQUAL(check_run_by<float>(read_run_by_avx512<float>, fields, "\n"), 0U);
  CHECK_EQUAL(check_run_by<double>(read_run_by_avx512<double>, fields, ",text\n"), 0U);
  for (int i = 0; i < 100; ++i) fields.push_back("12345678.5");  // other digits, the same way
  for (int i = 0; i < 100; ++i) fields.push_back("-1.00000000000001");
  CHECK(check_run_by<float>(read_run_by_avx512<float>, fields, "\n") < 32);
  fields.resize(1005);
  fields[10] = "3";
  fields[700] = "1e-05";
  CHECK_EQUAL(check_run_by<float>(read_run_by_avx512<float>, fields, "\n"), 2U);
}
#endif
