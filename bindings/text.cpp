// Binding of the text reader.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <utility>

#include "convert/arrays.hpp"
#include "convert/words.hpp"
#include "graphmount/text/reader.hpp"

namespace graphmount::bindings {

template <>
inline constexpr auto kWords<TextType> =
    make_words<TextType>("type", {{"node_id", TextType::kNodeId},
                                  {"key", TextType::kKey},
                                  {"int64", TextType::kInteger},
                                  {"time", TextType::kTime},
                                  {"float32", TextType::kFloat32},
                                  {"float64", TextType::kFloat64},
                                  {"text", TextType::kText}});

namespace {

using nb::literals::operator""_a;

/// Anything with a `readinto` that fills the buffer it is given, up to the end of what there is.
class PythonStream : public ByteStream {
 public:
  explicit PythonStream(nb::object stream) : readinto_(stream.attr("readinto")) {}
  ~PythonStream() override {
    const GilAcquire acquire;
    readinto_.reset();
  }
  PythonStream(const PythonStream&) = delete;
  PythonStream& operator=(const PythonStream&) = delete;

  std::size_t read(std::span<char> out) override {
    const GilAcquire acquire;
    const nb::object view = nb::steal(
        PyMemoryView_FromMemory(out.data(), static_cast<Py_ssize_t>(out.size()), PyBUF_WRITE));
    const auto count = nb::cast<std::size_t>(readinto_(view));
    view.attr("release")();  // the buffer may move
    if (count > out.size()) throw std::invalid_argument("readinto says it has read too much");
    return count;
  }

 private:
  nb::object readinto_;
};

/// One array for each output, of two dimensions if it has several fields; for text, a pair of
/// offsets and bytes.
nb::list to_list(TextBatch batch) {
  nb::list list;
  for (TextArray& array : batch.arrays) {
    if (array.type == TextType::kText) {
      auto offsets =
          to_numpy(std::move(array.items), 1, batch.num_rows + 1, 1, nb::dtype<std::int64_t>());
      const std::size_t size = array.text.size();
      auto bytes = to_numpy(std::move(array.text), 1, size, 1, nb::dtype<std::uint8_t>());
      list.append(nb::make_tuple(offsets, bytes));
      continue;
    }
    const nb::dlpack::dtype dtype = array.type == TextType::kFloat32   ? nb::dtype<float>()
                                    : array.type == TextType::kFloat64 ? nb::dtype<double>()
                                                                       : nb::dtype<std::int64_t>();
    list.append(to_numpy(std::move(array.items), array.num_fields == 1 ? 1 : 2, batch.num_rows,
                         array.num_fields, dtype));
  }
  return list;
}

TextFormat to_format(const std::string& delimiter, const std::string& comments, bool quotes,
                     bool header) {
  if (delimiter.size() > 1)
    throw std::invalid_argument("the delimiter must be one character, of ASCII");
  return {delimiter.empty() ? std::nullopt : std::optional(delimiter[0]), comments, quotes, header};
}

void make_reader(TextReader* self, const std::filesystem::path& path,
                 const std::optional<nb::object>& stream, const std::string& delimiter,
                 const std::string& comments, bool quotes, bool header,
                 const std::vector<std::pair<std::string, std::vector<std::size_t>>>& outputs,
                 bool skip_errors, std::size_t longest_line) {
  TextLayout layout;
  layout.format = to_format(delimiter, comments, quotes, header);
  for (const auto& [type, fields] : outputs) {
    const bool is_label = type == "label";  // text that may be missing
    layout.outputs.push_back(
        {is_label ? TextType::kText : to_value<TextType>(type), fields, is_label});
  }
  layout.skip_errors = skip_errors;
  layout.longest_line = longest_line;
  if (stream)
    new (self) TextReader(path.string(), std::make_unique<PythonStream>(*stream), layout);
  else
    new (self) TextReader(path.string(), std::make_unique<SourceFile>(path), layout);
}

/// The fields of the first rows of a text, to find out its layout before reading it. Rows that
/// cannot be split are empty, and a last line without a line break is left out.
std::vector<std::vector<nb::bytes>> split_text(const nb::bytes& text, const std::string& delimiter,
                                               const std::string& comments, bool quotes,
                                               std::size_t max_rows) {
  const TextFormat format = to_format(delimiter, comments, quotes, false);
  require_valid({format, {{TextType::kText, {0}}}});
  std::string_view rest(text.c_str(), text.size());
  std::vector<std::vector<nb::bytes>> rows;
  std::vector<TextField> fields;
  while (rows.size() < max_rows && rest.find('\n') != std::string_view::npos) {
    const std::string_view line = take_line(rest);
    if (!is_row(line, format)) continue;
    if (split_row(line, format, fields)) fields.clear();
    std::vector<nb::bytes>& row = rows.emplace_back();
    for (const TextField& field : fields) {
      const std::string plain = field.has_escapes ? unescape(field.text) : std::string(field.text);
      row.emplace_back(plain.data(), plain.size());
    }
  }
  return rows;
}

}  // namespace

void bind_text(nb::module_& module) {
  module.def("split_text", &split_text, "text"_a, nb::kw_only(), "delimiter"_a, "comments"_a,
             "quotes"_a, "max_rows"_a);

  nb::class_<TextReader>(module, "TextReader")
      .def("__init__", &make_reader, "path"_a, nb::kw_only(), "stream"_a.none() = nb::none(),
           "delimiter"_a, "comments"_a, "quotes"_a, "header"_a, "outputs"_a, "skip_errors"_a,
           "longest_line"_a = kLongestLine)
      .def(
          "read",
          [](TextReader& self, std::size_t num_bytes) -> std::optional<nb::list> {
            std::optional<TextBatch> batch = without_gil([&] { return self.read(num_bytes); });
            if (!batch) return std::nullopt;
            return to_list(std::move(*batch));
          },
          "num_bytes"_a)
      .def_prop_ro("bytes_read", &TextReader::bytes_read)
      .def_prop_ro("num_skipped", &TextReader::num_skipped)
      .def_prop_ro("examples", [](const TextReader& self) {
        // With the file's name, which need not be UTF-8.
        nb::typed<nb::list, nb::str> examples;
        for (const std::string& example : self.examples()) examples.append(to_str(example));
        return examples;
      });
}

}  // namespace graphmount::bindings
