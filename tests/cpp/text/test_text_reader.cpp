// The reader of text tables: batches and pieces of every size give the same rows and errors.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "graphmount/text/lines/fields.hpp"
#include "temporary_folder.hpp"
#include "text_streams.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

TextLayout edges_with_names() {
  TextLayout layout;
  layout.outputs = {{TextType::kNodeId, {0}}, {TextType::kNodeId, {1}}, {TextType::kText, {2}}};
  return layout;
}

TextLayout plain_edges() {
  TextLayout layout;
  layout.outputs = {{TextType::kNodeId, {0}}, {TextType::kNodeId, {1}}};
  return layout;
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace

TEST(gives_the_same_for_all_sizes_of_batches_and_pieces) {
  std::mt19937_64 random(5);
  std::string text = "\xEF\xBB\xBF# start\n\nsrc,dst,name\n";
  std::vector<std::int64_t> src;
  std::vector<std::string> names;
  for (int row = 0; row < 300; ++row) {
    src.push_back(static_cast<std::int64_t>(random() >> (1 + random() % 63)));
    names.push_back("n" + std::to_string(random() % 1000));
    const bool is_quoted = random() % 8 == 0;
    text += std::to_string(src.back()) + ",7," +
            (is_quoted ? "\"" + names.back() + "\"" : names.back());
    if (row < 299) text += random() % 4 == 0 ? "\r\n" : "\n";
    if (random() % 16 == 0 && row < 299) text += "# between\n\n";
  }
  TextLayout layout = edges_with_names();
  layout.format.has_header = true;
  const TemporaryFolder folder;
  write(folder / "t.csv", text);
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    for (const std::size_t batch : {1, 2, 3, 17, 64, 1000, 100'000}) {
      for (const std::size_t piece : {1, 2, 5, 31, 100'000}) {
        for (const WholeTable& table : {read_table(text, layout, batch, piece),
                                        read_table_file(folder / "t.csv", layout, batch, piece)}) {
          CHECK(table.values<std::int64_t>(0) == src);
          CHECK(table.texts[2] == names);
          CHECK_EQUAL(table.bytes_read, text.size());
        }
      }
    }
  }
}

TEST(names_the_first_bad_line_whatever_the_sizes) {
  std::string text;
  for (int row = 1; row <= 400; ++row)
    text += row == 123 || row == 124 || row == 390 ? "1,oops\n" : row % 10 == 0 ? "# \n" : "1,2\n";
  TextLayout layout = plain_edges();
  const TemporaryFolder folder;
  write(folder / "t.csv", text);
  for (const int threads : {1, 4}) {
    set_num_threads(threads);
    for (const std::size_t batch : {1, 5, 100, 100'000}) {
      for (const std::size_t piece : {1, 7, 64, 100'000}) {
        layout.skip_errors = false;
        CHECK_THROWS_WITH(read_table(text, layout, batch, piece), SourceError,
                          "t.csv, line 123, column 2: 'oops'");
        CHECK_THROWS_WITH(read_table_file(folder / "t.csv", layout, batch, piece), SourceError,
                          "t.csv, line 123, column 2: 'oops'");
        layout.skip_errors = true;
        for (const WholeTable& table : {read_table(text, layout, batch, piece),
                                        read_table_file(folder / "t.csv", layout, batch, piece)}) {
          CHECK_EQUAL(table.num_rows, std::size_t{400 - 39 - 3});
          CHECK_EQUAL(table.num_skipped, std::size_t{3});
          CHECK(table.examples.at(2).starts_with("t.csv, line 390, column 2"));
        }
      }
    }
  }
}

TEST(counts_lines_of_any_text) {
  std::mt19937_64 random(6);
  std::string text(2000, 'x');
  for (char& c : text)
    if (random() % 5 == 0) c = '\n';
  for (std::size_t begin = 0; begin < 200; begin += 7)
    for (std::size_t size = 0; begin + size <= text.size(); size += 1 + size / 8) {
      const std::string_view part = std::string_view(text).substr(begin, size);
      CHECK_EQUAL(count_lines(part),
                  static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n')));
    }
}

TEST(has_room_for_lines_that_get_shorter_and_longer) {
  // Batches are made as large as the one before; each change of the length shows that one wrong.
  std::string text;
  std::vector<std::string> names;
  for (const std::size_t length : {5000, 1, 300, 2, 20'000, 1}) {
    for (int row = 0; row < 20; ++row) {
      names.push_back(std::string(length, static_cast<char>('a' + names.size() % 26)));
      text += "1,2," + names.back() + "\n";
      if (row % 7 == 0) text += std::string(length % 100, '\n');
    }
  }
  const TemporaryFolder folder;
  write(folder / "t.csv", text);
  for (const int threads : {1, 4}) {
    set_num_threads(threads);
    for (const std::size_t batch : {10, 3000, 40'000, 1'000'000}) {
      for (const std::size_t piece : {7, 100, 4096, 30'000}) {
        for (const WholeTable& table :
             {read_table(text, edges_with_names(), batch, piece),
              read_table_file(folder / "t.csv", edges_with_names(), batch, piece)}) {
          CHECK(table.texts[2] == names);
          CHECK(table.values<std::int64_t>(1) == std::vector<std::int64_t>(names.size(), 2));
        }
      }
    }
  }
}

TEST(reads_files_and_sees_them_shrink) {
  const TemporaryFolder folder;
  std::string text;
  for (int row = 0; row < 100'000; ++row)
    text += std::to_string(row) + "," + std::to_string(row * 3) + "\n";
  write(folder / "edges.csv", text);
  TextReader reader("edges.csv", std::make_unique<SourceFile>(folder / "edges.csv"), plain_edges());
  std::int64_t next = 0;
  while (const auto batch = reader.read(100'000)) {
    const auto* const src = reinterpret_cast<const std::int64_t*>(batch->arrays[0].items.data());
    const auto* const dst = reinterpret_cast<const std::int64_t*>(batch->arrays[1].items.data());
    for (std::size_t row = 0; row < batch->num_rows; ++row, ++next) {
      CHECK_EQUAL(src[row], next);
      CHECK_EQUAL(dst[row], next * 3);
    }
  }
  CHECK_EQUAL(next, 100'000);
  CHECK_EQUAL(reader.bytes_read(), text.size());
  CHECK(!reader.read(100));

  TextReader other("edges.csv", std::make_unique<SourceFile>(folder / "edges.csv"), plain_edges());
  CHECK(other.read(1000).has_value());
  std::filesystem::resize_file(folder / "edges.csv", 2000);
  CHECK_THROWS_WITH(other.read(100'000), FileChangedError, "was truncated from");
}

TEST(refuses_what_is_no_file) {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(SourceFile(folder / "none"), IoError, "cannot open");
  CHECK_THROWS_WITH(SourceFile(folder.path()), IoError, "cannot read");
  CHECK_EQUAL(mkfifo((folder / "pipe").c_str(), 0600), 0);
  CHECK_THROWS_WITH(SourceFile(folder / "pipe"), IoError,
                    "cannot read a special file (this is a named pipe, not a regular file)");
}

TEST(refuses_endless_lines) {
  const std::string line(kLongestLine + 10, '1');
  for (const std::size_t batch : {std::size_t{1} << 20, std::size_t{1} << 30})
    CHECK_THROWS_WITH(read_table("1,2\n" + line, plain_edges(), batch), SourceError,
                      "t.csv, line 2: longer than 16 MiB");
  const TemporaryFolder folder;
  write(folder / "t.csv", "1,2\n" + line + line + "\n1,oops\n");
  for (const int threads : {1, 4}) {
    set_num_threads(threads);
    for (const std::size_t batch : {std::size_t{1}, std::size_t{1} << 20, std::size_t{1} << 30})
      CHECK_THROWS_WITH(read_table_file(folder / "t.csv", plain_edges(), batch), SourceError,
                        "t.csv, line 2: longer than 16 MiB");
  }
}

TEST(lines_are_as_long_as_the_layout_allows) {
  TextLayout layout = plain_edges();
  layout.longest_line = std::size_t{1} << 20;
  const std::string blanks(layout.longest_line - 4, ' ');
  for (const std::size_t batch : {std::size_t{1}, std::size_t{1} << 30}) {
    CHECK_EQUAL(read_table("1,2\n3,4" + blanks + "\n", layout, batch).num_rows, std::size_t{2});
    CHECK_THROWS_WITH(read_table("1,2\n3,4" + blanks + "  \n5,6\n", layout, batch), SourceError,
                      "t.csv, line 2: longer than 1 MiB; this does not look like a text table (a "
                      "larger memory= allows lines of up to 16 MiB)");
  }
}

TEST(rows_have_so_many_fields) {
  std::string row = "1";
  for (std::size_t i = 1; i < kMostFields; ++i) row += ",1";
  CHECK_EQUAL(read_table(row + "\n" + row + "\n", plain_edges(), 1 << 20).num_rows, std::size_t{2});
  // Where the first two are all that is wanted, nobody looks at the others.
  CHECK_EQUAL(read_table(row + ",1\n", plain_edges(), 1 << 20).num_rows, std::size_t{1});
  CHECK_THROWS_WITH(read_table("\"1\"," + row + "\n", plain_edges(), 1 << 20), SourceError,
                    "t.csv, line 1, column 1048577: there are more than 1048576 fields");
}
