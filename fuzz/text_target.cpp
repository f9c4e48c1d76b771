// Text tables. The first eight bytes of an input say how to read it; the rest is the text.
//
// Nothing may crash, and what comes out must not depend on how the text is cut: whole, in small
// batches, or in pieces of a few bytes for many threads.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "graphmount/base/error.hpp"
#include "graphmount/text/reader.hpp"
#include "target.hpp"

namespace graphmount::fuzz {
namespace {

class StringStream : public ByteStream {
 public:
  explicit StringStream(const std::string& text) : text_(text) {}
  std::size_t read(std::span<char> out) override {
    const std::size_t count = std::min(out.size(), text_.size() - at_);
    std::memcpy(out.data(), text_.data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  const std::string& text_;
  std::size_t at_ = 0;
};

constexpr const char* kTokens[] = {"0",
                                   "1",
                                   "42",
                                   "123456789",
                                   "9223372036854775807",
                                   "9223372036854775808",
                                   "-1",
                                   "+5",
                                   "007",
                                   "0.5",
                                   "-0.13210486",
                                   "1e3",
                                   "1e400",
                                   "nan",
                                   "inf",
                                   ".",
                                   "-",
                                   "foo",
                                   "\"a\"",
                                   "\"",
                                   "\"x\"\"y\"",
                                   "",
                                   " ",
                                   "\xC3\xB6",
                                   "\xFF",
                                   "#",
                                   "%",
                                   "2020-01-01",
                                   "12345678901234567",
                                   "\x01"};
constexpr const char* kBetween[] = {",", ",", ",", "\n", "\n", "\t", " ", "  ", ";", "\r\n", "\r"};

std::string random_text(std::mt19937_64& random) {
  std::string text;
  for (std::uint64_t i = random() % 200; i > 0; --i) {
    text += kTokens[random() % std::size(kTokens)];
    text += kBetween[random() % std::size(kBetween)];
  }
  // Mostly plain lines, so that the fast way is taken and left again.
  for (std::uint64_t i = random() % 50; i > 0; --i)
    text.insert(random() % (text.size() + 1), "\n" + std::to_string(random() >> (random() % 64)) +
                                                  "," + std::to_string(random() % 1000) + "\n");
  if (random() % 20 == 0 && !text.empty()) text[random() % text.size()] = '\0';
  return text;
}

TextLayout random_layout(std::mt19937_64& random) {
  constexpr TextType kTypes[] = {TextType::kNodeId, TextType::kInteger, TextType::kKey,
                                 TextType::kTime,   TextType::kFloat32, TextType::kFloat64,
                                 TextType::kText};
  constexpr char kDelimiters[] = {',', '\t', ';'};
  TextLayout layout;
  layout.format.delimiter = kDelimiters[random() % 3];
  if (random() % 4 == 0) layout.format.delimiter.reset();
  layout.format.has_quotes = random() % 2 == 0;
  layout.format.has_header = random() % 4 == 0;
  layout.skip_errors = random() % 4 != 0;
  const bool is_edge_list = random() % 2 == 0;
  layout.outputs.push_back({is_edge_list ? TextType::kNodeId : kTypes[random() % 7], {0}});
  layout.outputs.push_back({is_edge_list ? TextType::kNodeId : kTypes[random() % 7], {1}});
  if (random() % 4 == 0) layout.outputs.push_back({TextType::kFloat32, {1, 2, 3}});
  return layout;
}

struct Result {
  std::vector<std::string> arrays;  // the bytes of each
  std::size_t num_rows = 0, num_skipped = 0;
  std::vector<std::string> examples;
  std::string error;

  bool operator==(const Result&) const = default;
};

Result read_all(const std::string& text, const TextLayout& layout, std::size_t batch_bytes,
                std::size_t piece_bytes) {
  Result result;
  result.arrays.resize(layout.outputs.size());
  TextReader reader("text", std::make_unique<StringStream>(text), layout, piece_bytes);
  try {
    while (auto batch = reader.read(batch_bytes)) {
      result.num_rows += batch->num_rows;
      for (std::size_t i = 0; i < batch->arrays.size(); ++i) {
        const TextArray& array = batch->arrays[i];
        const auto append = [](std::string& to, const std::byte* bytes, std::size_t size) {
          to.append(reinterpret_cast<const char*>(bytes), size);
        };
        if (array.type == TextType::kText)  // offsets begin anew in each batch
          append(result.arrays[i], array.text.data(), array.text.size());
        else
          append(result.arrays[i], array.items.data(), batch->num_rows * array.row_bytes());
      }
    }
    result.num_skipped = reader.num_skipped();
    result.examples = reader.examples();
  } catch (const SourceError& error) {
    result = {};  // what came before the error depends on the batches
    result.error = error.what();
  }
  return result;
}

constexpr std::size_t kLayoutBytes = sizeof(std::uint64_t);

Bytes to_input(std::uint64_t layout, const std::string& text) {
  Bytes input(kLayoutBytes + text.size());
  std::memcpy(input.data(), &layout, kLayoutBytes);
  std::memcpy(input.data() + kLayoutBytes, text.data(), text.size());
  return input;
}

}  // namespace

std::vector<Bytes> make_corpus() {
  std::vector<Bytes> corpus;
  for (std::uint64_t number = 0; number < 24; ++number) {
    std::mt19937_64 random(number);
    corpus.push_back(to_input(number, random_text(random)));
  }
  return corpus;
}

void mutate(Bytes& input, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  if (random() % 4 == 0 || input.size() < kLayoutBytes) {
    input = to_input(random(), random_text(random));
    return;
  }
  std::string text(reinterpret_cast<const char*>(input.data()) + kLayoutBytes,
                   input.size() - kLayoutBytes);
  std::uint64_t layout = 0;
  std::memcpy(&layout, input.data(), kLayoutBytes);
  if (random() % 4 == 0) layout = random();
  for (std::uint64_t changes = 1 + random() % 4; changes > 0; --changes) {
    const std::size_t at = random() % (text.size() + 1);
    switch (random() % 4) {
      case 0:
        text.insert(at, kTokens[random() % std::size(kTokens)]);
        break;
      case 1:
        text.insert(at, kBetween[random() % std::size(kBetween)]);
        break;
      case 2:
        text.erase(at, random() % 8);
        break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(random());
    }
  }
  input = to_input(layout, text);
}

void run_input(std::span<const std::byte> input) {
  if (input.size() < kLayoutBytes) return;
  std::uint64_t seed = 0;
  std::memcpy(&seed, input.data(), kLayoutBytes);
  std::mt19937_64 random(seed);
  const std::string text(reinterpret_cast<const char*>(input.data()) + kLayoutBytes,
                         input.size() - kLayoutBytes);
  const TextLayout layout = random_layout(random);
  const Result whole = read_all(text, layout, text.size() + 100, std::size_t{1} << 19);
  for (const auto& [batch, piece] :
       {std::tuple(text.size() + 100, std::size_t{7}), std::tuple(std::size_t{64}, std::size_t{11}),
        std::tuple(std::size_t{1}, std::size_t{1} << 19)}) {
    if (read_all(text, layout, batch, piece) == whole) continue;
    give_up("batches of " + std::to_string(batch) + " and pieces of " + std::to_string(piece) +
            " bytes differ");
  }
}

}  // namespace graphmount::fuzz
