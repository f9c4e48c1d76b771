// Rows of text that go to a sink as they are parsed: together with those that it does not take,
// they are the rows that a reader gives, whatever the sizes, and errors are the same.
#include <atomic>
#include <fstream>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "graphmount/base/error.hpp"
#include "graphmount/compile/text_row_sink.hpp"
#include "graphmount/system/threads/parallel.hpp"
#include "graphmount/verify/verify.hpp"
#include "temporary_folder.hpp"
#include "text_streams.hpp"

using namespace graphmount;
using namespace graphmount::testing;

namespace {

using Keys = std::vector<std::int64_t>;

constexpr std::size_t kMemory = 1 << 20;

TextLayout keyed_rows() {
  TextLayout layout;
  layout.outputs = {{TextType::kFloat32, {1, 2}}, {TextType::kNodeId, {0}}};
  return layout;
}

/// Takes keys, up to one that it does not want, and writes them late, so that others overtake.
class KeySink : public RowSink {
 public:
  explicit KeySink(std::int64_t unwanted = -1) : unwanted_(unwanted) {}

  std::optional<std::uint64_t> take(const RowPiece& piece) override {
    CHECK_EQUAL(piece.outputs.size(), std::size_t{2});
    CHECK(!is_taking_.exchange(true));  // nobody else does
    const Keys keys = keys_of(piece);
    const bool is_wanted = std::count(keys.begin(), keys.end(), unwanted_) == 0;
    const std::uint64_t place = places_.size();
    if (is_wanted) places_.resize(places_.size() + keys.size(), -1);
    is_taking_ = false;
    return is_wanted ? std::optional(place) : std::nullopt;
  }

  void write(const RowPiece& piece, std::uint64_t place) override {
    if (place % 3 == 0) std::this_thread::yield();
    const std::lock_guard lock(mutex_);
    const Keys keys = keys_of(piece);
    for (std::size_t i = 0; i < keys.size(); ++i) written_.emplace_back(place + i, keys[i]);
  }

  Keys keys() const {
    Keys keys = places_;
    for (const auto& [place, key] : written_) {
      CHECK_EQUAL(keys.at(place), -1);
      keys[place] = key;
    }
    return keys;
  }

 private:
  static Keys keys_of(const RowPiece& piece) {
    const auto* const keys = reinterpret_cast<const std::int64_t*>(piece.outputs[1]);
    return {keys, keys + piece.num_rows};
  }

  std::int64_t unwanted_;
  std::atomic<bool> is_taking_ = false;
  Keys places_;
  std::mutex mutex_;
  std::vector<std::pair<std::uint64_t, std::int64_t>> written_;
};

/// What a reader gives to a sink, as long as it takes something, and then to a table.
struct Split {
  std::size_t num_taken = 0;
  Keys taken;
  WholeTable rest;

  Keys all() const {
    Keys keys = taken;
    for (const std::int64_t key : rest.values<std::int64_t>(1)) keys.push_back(key);
    return keys;
  }
};

Split split(TextReader& reader, KeySink& sink, std::size_t batch_bytes) {
  Split split;
  while (const std::size_t count = reader.write_to(sink, batch_bytes, kMemory))
    split.num_taken += count;
  split.taken = sink.keys();
  CHECK_EQUAL(split.taken.size(), split.num_taken);
  split.rest = read_table(reader, reader.layout(), batch_bytes);
  return split;
}

void write_all(TextReader& reader, FeatureWriter& writer, std::size_t batch_bytes) {
  TextRowSink sink(writer, reader.layout());  // which nobody else can use meanwhile
  while (reader.write_to(sink, batch_bytes, kMemory) > 0) continue;
}

/// Calls `check` with readers of a text, from a file and a stream, for many sizes.
void for_sizes(const std::string& text, const TextLayout& layout,
               const std::function<void(TextReader&, std::size_t)>& check) {
  const TemporaryFolder folder;
  std::ofstream(folder / "t.csv", std::ios::binary) << text;
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    for (const std::size_t batch : {1, 40, 1000, 100'000}) {
      for (const std::size_t piece : {1, 9, 64, 100'000}) {
        TextReader file("t.csv", std::make_unique<SourceFile>(folder / "t.csv"), layout, piece);
        check(file, batch);
        TextReader stream("t.csv", std::make_unique<MemoryStream>(text), layout, piece);
        check(stream, batch);
      }
    }
  }
}

/// A text with all that is no row, and the keys of its rows; one of them is bad, if that is wanted.
std::string some_text(Keys& keys, std::size_t bad_row = SIZE_MAX) {
  std::mt19937_64 random(8);
  std::string text = "\xEF\xBB\xBF# start\n\nid,x,y\n";
  for (std::size_t row = 0; row < 300; ++row) {
    if (row == bad_row) {
      text += "7,oops,1\n";
      continue;
    }
    keys.push_back(static_cast<std::int64_t>(row));
    text += std::to_string(row) + "," + std::to_string(random() % 100) + ".5,2";
    if (row < 299) text += random() % 4 == 0 ? "\r\n" : "\n";
    if (random() % 16 == 0 && row < 299) text += "# between\n\n";
  }
  return text;
}

}  // namespace

TEST(a_sink_gets_all_rows_whatever_the_sizes) {
  Keys keys;
  const std::string text = some_text(keys);
  TextLayout layout = keyed_rows();
  layout.format.has_header = true;
  for_sizes(text, layout, [&](TextReader& reader, std::size_t batch) {
    KeySink sink;
    const Split found = split(reader, sink, batch);
    CHECK(found.taken == keys);
    CHECK_EQUAL(found.rest.num_rows, std::size_t{0});
    CHECK_EQUAL(reader.bytes_read(), text.size());
  });
}

TEST(what_a_sink_does_not_take_is_read) {
  Keys keys;
  const std::string text = some_text(keys);
  TextLayout layout = keyed_rows();
  layout.format.has_header = true;
  const WholeTable table = read_table(text, layout);
  for (const std::int64_t unwanted : {0, 1, 150, 299}) {
    for_sizes(text, layout, [&](TextReader& reader, std::size_t batch) {
      KeySink sink(unwanted);
      const Split found = split(reader, sink, batch);
      CHECK(found.num_taken <= static_cast<std::size_t>(unwanted));
      CHECK(found.all() == keys);
      const std::string values = table.items[0].substr(found.num_taken * 8);
      CHECK(found.rest.items[0] == values);
      CHECK_EQUAL(reader.bytes_read(), text.size());
    });
  }
}

TEST(bad_rows_are_not_for_sinks) {
  for (const std::size_t bad_row : {0, 1, 200}) {
    Keys keys;
    const std::string text = some_text(keys, bad_row);
    TextLayout layout = keyed_rows();
    layout.format.has_header = true;
    std::string message;
    try {
      static_cast<void>(read_table(text, layout));
    } catch (const SourceError& error) {
      message = error.what();
    }
    CHECK(message.find("'oops'") != std::string::npos);
    for_sizes(text, layout, [&](TextReader& reader, std::size_t batch) {
      KeySink sink;
      CHECK_THROWS_WITH(split(reader, sink, batch), SourceError, message);
    });
    layout.skip_errors = true;
    for_sizes(text, layout, [&](TextReader& reader, std::size_t batch) {
      KeySink sink;
      const Split found = split(reader, sink, batch);
      CHECK(found.all() == keys);
      CHECK_EQUAL(found.rest.num_skipped, std::size_t{1});
      CHECK_EQUAL(found.rest.examples.at(0), message);
    });
  }
}

TEST(endless_lines_are_not_for_sinks) {
  const std::string line(kLongestLine + 10, '1');
  const TemporaryFolder folder;
  std::ofstream(folder / "t.csv") << "0,1,2\n" << line << line << "\n";
  TextReader file("t.csv", std::make_unique<SourceFile>(folder / "t.csv"), keyed_rows());
  TextReader stream("t.csv", std::make_unique<MemoryStream>("0,1,2\n" + line), keyed_rows());
  for (TextReader* const reader : {&file, &stream}) {
    KeySink sink;
    CHECK_THROWS_WITH(split(*reader, sink, 1 << 20), SourceError,
                      "t.csv, line 2: longer than 16 MiB");
  }
}

TEST(what_a_sink_throws_ends_it_and_nobody_waits) {
  class Broken : public KeySink {
   public:
    explicit Broken(bool in_take) : in_take_(in_take) {}
    std::optional<std::uint64_t> take(const RowPiece& piece) override {
      const auto place = KeySink::take(piece);
      if (in_take_ && *place > 100) throw IoError("x.gd", "cannot write", ENOSPC);
      return place;
    }
    void write(const RowPiece&, std::uint64_t place) override {
      if (place > 100) throw IoError("x.gd", "cannot write", ENOSPC);
    }

   private:
    bool in_take_;
  };
  Keys keys;
  const std::string text = some_text(keys);
  TextLayout layout = keyed_rows();
  layout.format.has_header = true;
  for (const bool in_take : {false, true})
    for_sizes(text, layout, [&](TextReader& reader, std::size_t batch) {
      Broken sink(in_take);
      const auto write_all = [&] {
        while (reader.write_to(sink, batch, kMemory) > 0) continue;
      };
      // A piece that is the whole text begins at row 0.
      if (batch < 1000) CHECK_THROWS_WITH(write_all(), IoError, "cannot write");
    });
}

TEST(rows_in_the_order_of_a_file_become_that_file) {
  const TemporaryFolder folder;
  for (const std::optional<std::uint64_t> rows : {std::optional<std::uint64_t>(300), {}}) {
    Keys keys;
    const std::string text = some_text(keys);
    TextLayout layout = keyed_rows();
    layout.format.has_header = true;
    const WholeTable table = read_table(text, layout);
    const FeatureLayout file{.dtype = DType::kFloat32, .rows = rows, .columns = 2};
    const auto write_by = [&](const std::function<void(FeatureWriter&)>& write) {
      FeatureWriter writer(folder / "x.gd", file);
      write(writer);
      writer.finish(300);
      CHECK_EQUAL(verify_file(folder / "x.gd", {}).num_problems, std::uint64_t{0});
      std::ifstream stream(folder / "x.gd", std::ios::binary);
      return std::string(std::istreambuf_iterator<char>(stream), {});
    };
    const std::string expected = write_by(
        [&](FeatureWriter& writer) { writer.append(std::as_bytes(std::span(table.items[0]))); });
    for_sizes(text, layout, [&](TextReader& reader, std::size_t batch) {
      const std::string made = write_by([&](FeatureWriter& writer) {
        write_all(reader, writer, batch);
        CHECK_EQUAL(FeatureWriter::Shared(writer).num_rows(), std::uint64_t{300});
      });
      CHECK(made == expected);
    });
  }
}

TEST(takes_only_rows_that_come_next_and_have_room) {
  const TemporaryFolder folder;
  const auto num_taken = [&](const std::string& text, std::optional<std::uint64_t> rows) {
    FeatureWriter writer(folder / "x.gd", {.rows = rows, .columns = 2});
    TextReader reader("t.csv", std::make_unique<MemoryStream>(text), keyed_rows(), 1);
    write_all(reader, writer, 6);
    return FeatureWriter::Shared(writer).num_rows();
  };
  CHECK_EQUAL(num_taken("0,1,2\n1,1,2\n2,1,2\n", {}), std::uint64_t{3});
  CHECK_EQUAL(num_taken("1,1,2\n0,1,2\n2,1,2\n", {}), std::uint64_t{0});
  CHECK_EQUAL(num_taken("0,1,2\n1,1,2\n1,1,2\n", {}), std::uint64_t{2});
  CHECK_EQUAL(num_taken("0,1,2\n1,1,2\n3,1,2\n", {}), std::uint64_t{2});
  CHECK_EQUAL(num_taken("0,1,2\n1,1,2\n2,1,2\n", 2), std::uint64_t{2});
  CHECK_EQUAL(num_taken("0,1,2\n", 0), std::uint64_t{0});
}

TEST(text_is_not_for_sinks) {
  TextLayout layout = keyed_rows();
  layout.outputs.push_back({TextType::kText, {0}});
  TextReader reader("t.csv", std::make_unique<MemoryStream>("0,1,2\n"), layout);
  KeySink sink;
  CHECK_THROWS_WITH(reader.write_to(sink, 100, kMemory), std::invalid_argument, "text does not go");
}

TEST(refuses_columns_that_the_file_does_not_have) {
  const TemporaryFolder folder;
  FeatureWriter writer(folder / "x.gd", {.rows = 1, .columns = 2});
  const auto refuses = [&](std::vector<TextOutput> outputs) {
    TextLayout layout;
    layout.outputs = std::move(outputs);
    CHECK_THROWS_WITH(TextRowSink(writer, layout), std::invalid_argument, "other columns");
  };
  refuses({});
  refuses({{TextType::kFloat32, {0}}});
  refuses({{TextType::kFloat64, {0, 1}}});
  refuses({{TextType::kText, {0, 1}}});
  refuses({{TextType::kFloat32, {0, 1}}, {TextType::kText, {2}}});
  refuses({{TextType::kFloat32, {0, 1}}, {TextType::kNodeId, {2, 3}}});
  refuses({{TextType::kFloat32, {0, 1}}, {TextType::kNodeId, {2}}, {TextType::kNodeId, {3}}});
  writer.close();
  CHECK_THROWS_WITH(TextRowSink(writer, keyed_rows()), std::invalid_argument, "closed");
  FeatureWriter empty(folder / "x.gd", {.rows = 1, .columns = 0});
  CHECK_THROWS_WITH(TextRowSink(empty, keyed_rows()), std::invalid_argument, "no columns");
}

TEST(closing_a_writer_waits_for_the_sink) {
  const TemporaryFolder folder;
  FeatureWriter writer(folder / "x.gd", {.rows = std::nullopt, .columns = 2});
  std::atomic<bool> is_closed = false;
  std::thread closer;
  {
    TextRowSink sink(writer, keyed_rows());
    closer = std::thread([&] {
      writer.close();
      is_closed = true;
    });
    const std::string rows(16 * 1000, 'x');
    const Keys keys = [] {
      Keys all(2000);
      std::iota(all.begin(), all.end(), 0);
      return all;
    }();
    const std::byte* outputs[] = {std::as_bytes(std::span(rows)).data(),
                                  std::as_bytes(std::span(keys)).data()};
    const RowPiece piece{outputs, 2000};
    sink.write(piece, sink.take(piece).value());
    CHECK(!is_closed);
  }
  closer.join();
  CHECK_THROWS_WITH(TextRowSink(writer, keyed_rows()), std::invalid_argument, "closed");
}
