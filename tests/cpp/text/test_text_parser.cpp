// The parser of text tables: the fast way and the careful one agree, and errors say what and where.
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/text/lines/problem.hpp"
#include "text_streams.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

using Ids = std::vector<std::int64_t>;

TextLayout pairs(TextType type = TextType::kNodeId) {
  TextLayout layout;
  layout.outputs = {{type, {0}}, {type, {1}}};
  return layout;
}

TextLayout in_blanks(TextLayout layout) {
  layout.format.delimiter.reset();
  return layout;
}

TextLayout skipping(TextLayout layout) {
  layout.skip_errors = true;
  return layout;
}

std::string problem(const std::string& text, const TextLayout& layout) {
  try {
    read_table(text, layout);
  } catch (const SourceError& error) {
    return error.what();
  }
  return "no problem";
}

void check_ids(const std::string& text, const TextLayout& layout, const Ids& src, const Ids& dst) {
  const WholeTable table = read_table(text, layout);
  if (table.values<std::int64_t>(0) != src || table.values<std::int64_t>(1) != dst) FAIL(text);
}

}  // namespace

TEST(reads_pairs_of_every_shape) {
  const Ids src = {1, 30, 9223372036854775807}, dst = {2, 4, 0};
  for (const char* text : {
           "1,2\n30,4\n9223372036854775807,0\n",
           "1,2\n30,4\n9223372036854775807,0",
           "1,2\r\n30,4\r\n9223372036854775807,0\r\n",
           "1,2\r\n30,4\n9223372036854775807,0\r",
           "\xEF\xBB\xBF"
           "1,2\n30,4\n9223372036854775807,0\n",
           "# comment\n1,2\n% 5,6\n\n30,4\n   \n9223372036854775807,0\n\n#",
           " 1,2\n30 , 4\n9223372036854775807,\t0 \n",
           "\"1\",2\n30,\"4\"\n\" 9223372036854775807 \", \"0\" \n",
           "01,0002\n0000000000000000000030,4\n9223372036854775807,-0\n",
           "  # 1,2\n1,2\n30,4\n9223372036854775807,0\n",
       })
    check_ids(text, pairs(), src, dst);
  for (const char* text : {
           "1 2\n30 4\n9223372036854775807 0\n",
           "1\t2\n30  \t 4\n  9223372036854775807 0  \r\n",
           "1 2 7\n30\t4\n9223372036854775807 0 x y \"z\"\n",
           "\"1\" 2\n\"30\" \"4\"\n9223372036854775807 0\t",
       })
    check_ids(text, in_blanks(pairs()), src, dst);
  TextLayout swapped = pairs();
  swapped.outputs = {{TextType::kNodeId, {1}}, {TextType::kNodeId, {0}}};
  check_ids("1,2\n30,4\n", swapped, {2, 4}, {1, 30});
  swapped.outputs = {{TextType::kNodeId, {1}}, {TextType::kNodeId, {1}}};
  check_ids("1,2\n30,4\n", swapped, {2, 4}, {2, 4});
  check_ids("-1,2\n30,-4\n", pairs(TextType::kKey), {-1, 30}, {2, -4});
}

TEST(reads_nothing_from_nothing) {
  for (const char* text : {"", "\n", "\n\n  \n", "# only this", "\xEF\xBB\xBF", "\r\n"}) {
    CHECK_EQUAL(read_table(text, pairs()).num_rows, std::size_t{0});
    TextLayout with_header = pairs();
    with_header.format.has_header = true;
    CHECK_EQUAL(read_table(text, with_header).num_rows, std::size_t{0});
  }
}

TEST(says_what_is_wrong_and_where) {
  const auto check = [](const std::string& text, const std::string& message,
                        TextLayout layout = pairs()) {
    const std::string said = problem(text, layout);
    if (said.find(message) == std::string::npos) FAIL(text + "\n  says: " + said);
  };
  check("1,2\nfoo,3\n", "t.csv, line 2, column 1: 'foo' is not a node id; pass ids='map'");
  check("#\n\n1,2\n3,+5\n", "t.csv, line 4, column 2: '+5' is not a node id");
  for (const char* id : {"5.0", "1e3", "foo", "1 2", "--1", "0x10", "1_0", "٣"})
    check("1,2\n3," + std::string(id), "line 2, column 2: '" + std::string(id) + "' is not a node");
  check("1,2\n3,\n", "line 2, column 2: the field is empty, where a node id should be");
  check("1,2\n3,-5\n", "line 2, column 2: node id -5 is negative; pass ids='map'");
  check("1,9223372036854775808\n", "'9223372036854775808' does not fit into 64 bits");
  check("1,2\n3\n", "t.csv, line 2: 1 field, where the first row has 2");
  check("1,2\n3,4,5\n", "t.csv, line 2: 3 fields, where the first row has 2");
  check("1,2,\n3,4\n", "t.csv, line 2: 2 fields, where the first row has 3");
  check("1\n2\n", "t.csv, line 1: 1 field, where column 2 is wanted");
  check("1\n2,3\n", "t.csv, line 1: 1 field, where column 2 is wanted");
  check("1 2\n3\n", "t.csv, line 2: 1 field, where column 2 is wanted", in_blanks(pairs()));
  check("1,\"2\n", "line 1, column 2: a quote is opened and not closed on this line");
  check("1,\"2\"3\n", "line 1, column 2: there is text behind the closing quote");
  check("1,\x01\xFFz\n", "'\\x01\\xffz' is not a node id");
  check("1," + std::string(100, 'x'), "'" + std::string(40, 'x') + "...' is not a node id");
  check(std::string("1,2\n3,4\0\n", 9), "has a null byte in it");
  check(
      "\xFF\xFE"
      "1\0,\0",
      "t.csv: this looks like UTF-16; save it as UTF-8");
  check("\xFE\xFF", "looks like UTF-16");
  TextLayout floats;
  floats.outputs = {{TextType::kFloat32, {0}}, {TextType::kTime, {1}}, {TextType::kInteger, {2}}};
  check("x,2024-01-01,1\n", "column 1: 'x' is not a number", floats);
  check(",2024-01-01,1\n", "column 1: the field is empty, where a number should be", floats);
  check("1e39,2024-01-01,1\n", "column 1: '1e39' is too large for float32", floats);
  check("1,yesterday,1\n", "column 2: 'yesterday' is not a date or time like", floats);
  check("1,2024-01-01,1.5\n", "column 3: '1.5' is not an integer", floats);
  TextLayout text;
  text.outputs = {{TextType::kText, {0}}};
  check("a\n\xC3\x28\n", "line 2, column 1: '\\xc3(' is not valid UTF-8", text);
  check("a\n\"\"\n", "line 2, column 1: the field is empty", text);
  check(std::string("a\nb\0c\n", 6), "'b\\x00c' has a null byte in it; if the file is UTF-16",
        text);
}

TEST(reads_floats_text_and_times) {
  TextLayout layout;
  layout.outputs = {{TextType::kText, {0}},
                    {TextType::kFloat32, {1, 3}},
                    {TextType::kFloat64, {1}},
                    {TextType::kTime, {2}}};
  const WholeTable table = read_table(
      "a,0.1,1970-01-02,inf\n\"b, \"\"c\"\"\",-2,1970-01-01T00:00:01Z,-Infinity\n"
      " \xC3\xA4 ,\"1e-3\", 1970-01-01 ,nan\n",
      layout);
  CHECK_EQUAL(table.num_rows, std::size_t{3});
  CHECK(table.texts[0] == std::vector<std::string>{"a", "b, \"c\"", "\xC3\xA4"});
  const std::vector<float> matrix = table.values<float>(1);
  CHECK_EQUAL(matrix[0], 0.1F);
  CHECK(std::isinf(matrix[1]) && matrix[1] > 0);
  CHECK_EQUAL(matrix[2], -2.0F);
  CHECK(std::isinf(matrix[3]) && matrix[3] < 0);
  CHECK_EQUAL(matrix[4], 1e-3F);
  CHECK(std::isnan(matrix[5]));
  CHECK(table.values<double>(2) == std::vector<double>{0.1, -2, 1e-3});
  CHECK(table.values<std::int64_t>(3) == Ids{86400, 1, 0});
}

TEST(reads_text_that_may_be_empty) {
  TextLayout layout;
  layout.outputs = {{TextType::kText, {0}}, {TextType::kText, {1}, true}};
  const WholeTable table = read_table("a,\nb,\"\"\nc, \nd,e\n", layout);
  CHECK(table.texts[0] == std::vector<std::string>{"a", "b", "c", "d"});
  CHECK(table.texts[1] == std::vector<std::string>{"", "", "", "e"});
}

TEST(takes_quotes_for_text_where_there_are_none) {
  TextLayout layout;
  layout.format.has_quotes = false;
  layout.format.delimiter = '\t';
  layout.outputs = {{TextType::kText, {0}}, {TextType::kText, {1}}};
  const WholeTable table = read_table("\"a\tb\"\n\"c\"\t\"\n", layout);
  CHECK(table.texts[0] == std::vector<std::string>{"\"a", "\"c\""});
  CHECK(table.texts[1] == std::vector<std::string>{"b\"", "\""});
}

TEST(agrees_with_itself_about_quoted_numbers) {
  // A line with a quoted field goes the careful way, the same line without quotes the fast one.
  std::mt19937_64 random(3);
  const std::vector<std::string> values = {"0",
                                           "1",
                                           "12345678",
                                           "123456789",
                                           "1234567890123456",
                                           "12345678901234567",
                                           "-1",
                                           "-0",
                                           "",
                                           "9223372036854775807",
                                           "9223372036854775808",
                                           "00000000000000000000001",
                                           "1.",
                                           ".5",
                                           "1.5",
                                           "1e5",
                                           "1e400",
                                           "3.5e38",
                                           "nan",
                                           "inf",
                                           "x",
                                           "-",
                                           "+1",
                                           "2024-01-01",
                                           "1 ",
                                           " 1",
                                           "1\t",
                                           "0.1234567890123456789",
                                           "1e-50",
                                           "2024-01-01T01:02:03Z",
                                           "1\r",
                                           "#",
                                           "%1",
                                           "\xC3\xA4",
                                           "\xFF"};
  const std::vector<TextType> types = {TextType::kNodeId, TextType::kKey,     TextType::kInteger,
                                       TextType::kTime,   TextType::kFloat32, TextType::kFloat64,
                                       TextType::kText};
  for (int round = 0; round < 20'000; ++round) {
    const std::size_t num_fields = 1 + random() % 4;
    TextLayout layout;
    layout.skip_errors = true;
    if (random() % 3 == 0) layout.format.delimiter = '\t';
    for (std::size_t i = 0; i < 1 + random() % 3; ++i)
      layout.outputs.push_back({types[random() % types.size()], {random() % num_fields}});
    std::string plain, quoted;
    for (std::size_t row = 0; row < 3; ++row) {
      for (std::size_t field = 0; field < num_fields; ++field) {
        std::string value = values[random() % values.size()];
        // A comment or blank line is a row once it is in quotes, and so is a tab between tabs.
        if (value.find_first_of("#%\t\r") != std::string::npos || (field == 0 && value.empty()))
          value = "77";
        // Blanks around text count in quotes.
        if (value.front() == ' ' || value.back() == ' ') value = "78";
        const std::string between(field == 0 ? 0 : 1, *layout.format.delimiter);
        plain += between + value;
        quoted += between + '"' + value + '"';
      }
      const char* const line_end = random() % 2 == 0 ? "\n" : "\r\n";
      plain += line_end;
      quoted += line_end;
    }
    const WholeTable one = read_table(plain, layout), other = read_table(quoted, layout);
    if (one.items != other.items || one.texts != other.texts || one.examples != other.examples)
      FAIL(plain);
    CHECK_EQUAL(one.num_skipped, other.num_skipped);
  }
}

TEST(skips_bad_rows_and_counts_them) {
  std::string text = "1,2\n";
  for (int i = 0; i < 20; ++i) text += "bad,3\n4,5\n";
  const WholeTable table = read_table(text, skipping(pairs()));
  CHECK_EQUAL(table.num_rows, std::size_t{21});
  CHECK_EQUAL(table.num_skipped, std::size_t{20});
  CHECK_EQUAL(table.examples.size(), std::size_t{10});
  CHECK_EQUAL(table.examples[9].substr(0, 14), std::string("t.csv, line 20"));
  // A bad first row does not set the number of fields.
  const WholeTable other = read_table("junk\n1,2\n3,4\n5,6,7\n", skipping(pairs()));
  CHECK_EQUAL(other.num_rows, std::size_t{2});
  CHECK(other.examples ==
        std::vector<std::string>{"t.csv, line 1: 1 field, where column 2 is wanted; pass "
                                 "delimiter= if ',' is not what separates them",
                                 "t.csv, line 4: 3 fields, where the first row has 2"});
}

TEST(refuses_layouts_of_two_meanings) {
  const auto refuse = [](auto change) {
    TextLayout layout = pairs();
    change(layout);
    CHECK_THROWS(TextParser("t.csv", layout), std::invalid_argument);
  };
  for (const char c : {'1', 'e', '-', '.', '"', '\n', '\r', ' ', '\0', '+'})
    refuse([c](TextLayout& layout) { layout.format.delimiter = c; });
  for (const char* comments : {"1", "a", "-", ",", " ", "\"", "#\n"})
    refuse([comments](TextLayout& layout) { layout.format.comments = comments; });
  refuse([](TextLayout& layout) { layout.outputs.clear(); });
  refuse([](TextLayout& layout) { layout.outputs[0].fields.clear(); });
  refuse([](TextLayout& layout) { layout.outputs[0] = {TextType::kText, {0, 1}}; });
}

TEST(shows_text_that_cannot_be_shown) {
  CHECK_EQUAL(show_text("plain"), std::string("'plain'"));
  CHECK_EQUAL(show_text("\t\x7F\xC2\x85\xE2\x82"), std::string("'\\x09\\x7f\\xc2\\x85\\xe2\\x82'"));
  CHECK_EQUAL(show_text("\xE2\x82\xAC"), std::string("'\xE2\x82\xAC'"));
}
