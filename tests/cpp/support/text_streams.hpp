// Streams of bytes in memory, and a text table read whole, for tests of the text readers.
#pragma once

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graphmount/text/reader.hpp"

namespace graphmount::testing {

class MemoryStream : public ByteStream {
 public:
  explicit MemoryStream(std::string bytes) : bytes_(std::move(bytes)) {}
  std::size_t read(std::span<char> out) override {
    const std::size_t count = std::min(out.size(), bytes_.size() - at_);
    std::memcpy(out.data(), bytes_.data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

/// All there is of a table: the bytes of each output's items, and texts.
struct WholeTable {
  std::size_t num_rows = 0;
  std::vector<std::string> items;
  std::vector<std::vector<std::string>> texts;
  std::size_t num_skipped = 0;
  std::vector<std::string> examples;
  std::uint64_t bytes_read = 0;

  template <class Item>
  std::vector<Item> values(std::size_t output) const {
    std::vector<Item> values(items[output].size() / sizeof(Item));
    if (!values.empty()) std::memcpy(values.data(), items[output].data(), items[output].size());
    return values;
  }
};

inline WholeTable read_table(TextReader& reader, const TextLayout& layout,
                             std::size_t batch_bytes) {
  WholeTable table;
  table.items.resize(layout.outputs.size());
  table.texts.resize(layout.outputs.size());
  while (const auto batch = reader.read(batch_bytes)) {
    table.num_rows += batch->num_rows;
    for (std::size_t i = 0; i < batch->arrays.size(); ++i) {
      const TextArray& array = batch->arrays[i];
      const auto* const items = reinterpret_cast<const char*>(array.items.data());
      if (array.type != TextType::kText) {
        table.items[i].append(items, batch->num_rows * array.num_fields * item_bytes(array.type));
        continue;
      }
      std::vector<std::int64_t> offsets(batch->num_rows + 1);
      std::memcpy(offsets.data(), items, offsets.size() * sizeof offsets[0]);
      for (std::size_t row = 0; row < batch->num_rows; ++row)
        table.texts[i].emplace_back(reinterpret_cast<const char*>(array.text.data()) + offsets[row],
                                    static_cast<std::size_t>(offsets[row + 1] - offsets[row]));
    }
  }
  table.num_skipped = reader.num_skipped();
  table.examples = reader.examples();
  table.bytes_read = reader.bytes_read();
  return table;
}

inline WholeTable read_table(const std::string& bytes, const TextLayout& layout,
                             std::size_t batch_bytes = 1 << 20, std::size_t piece_bytes = 1 << 16) {
  TextReader reader("t.csv", std::make_unique<MemoryStream>(bytes), layout, piece_bytes);
  return read_table(reader, layout, batch_bytes);
}

/// The same of a file.
inline WholeTable read_table_file(const std::filesystem::path& path, const TextLayout& layout,
                                  std::size_t batch_bytes = 1 << 20,
                                  std::size_t piece_bytes = 1 << 16) {
  TextReader reader("t.csv", std::make_unique<SourceFile>(path), layout, piece_bytes);
  return read_table(reader, layout, batch_bytes);
}

}  // namespace graphmount::testing
