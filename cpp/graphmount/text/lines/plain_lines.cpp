#include "graphmount/text/lines/plain_lines.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include "graphmount/text/numbers/decimal.hpp"
#include "graphmount/text/numbers/digit_mask.hpp"
#include "graphmount/text/numbers/fraction_run.hpp"
#include "graphmount/text/numbers/fraction_run_avx512.hpp"
#include "graphmount/text/numbers/integer.hpp"
#include "graphmount/text/numbers/time.hpp"

namespace graphmount {
namespace {

// What a character means; several may be true.
constexpr unsigned kEndsField = 1;     // a delimiter, or the end of the line
constexpr unsigned kEndsLine = 2;      // or what may be one: a carriage return
constexpr unsigned kUnusual = 4;       // in a field that is not a number: leave it to the other way
constexpr unsigned kUnusualStart = 8;  // at the start of a line

bool is_integer_type(TextType type) {
  return type == TextType::kNodeId || type == TextType::kKey || type == TextType::kInteger;
}

// Where the next line starts, if `p` is at the end of one.
const char* next_line(const char* p) {
  if (*p == '\n') return p + 1;
  return p[0] == '\r' && p[1] == '\n' ? p + 2 : nullptr;
}

bool is_ascii(std::string_view text) {
  unsigned char all = 0;
  for (const char c : text) all |= static_cast<unsigned char>(c);
  return all < 0x80;
}

template <class Item>
void put(std::byte* place, Item item) {
  std::memcpy(place, &item, sizeof item);
}

// Reads a number that is wanted. Returns where it ends; nullptr if there is no plain one.
inline const char* read_number(const char* p, const char* end, TextType type, std::byte* place) {
  if (is_integer_type(type)) {
    std::int64_t value = 0;
    p = *p == '-' && type != TextType::kNodeId ? read_integer(p, value) : read_unsigned(p, value);
    put(place, value);
    return p;
  }
  double value = 0;
  p = read_decimal(p, end, value);
  if (type == TextType::kFloat64) {
    put(place, value);
    return std::isinf(value) ? nullptr : p;
  }
  const auto narrow = static_cast<float>(value);
  put(place, narrow);
  return std::isinf(narrow) ? nullptr : p;
}

// Reads a run of numbers, as far as they are plain. Before it, bytes from `begin` on are readable.
template <class Item>
inline std::size_t read_run(const char* begin, const char*& p, std::size_t count, char delimiter,
                            std::byte* place) {
  std::size_t done = 0;
#ifdef GRAPHMOUNT_HAS_AVX512_RUNS
  if (can_read_by_avx512()) done = read_run_by_avx512<Item>(p, count, delimiter, place);
#endif
  if (done < count && p - begin >= static_cast<std::ptrdiff_t>(kRunBytesBefore))
    done += read_fraction_run<Item>(p, count - done, delimiter, place + done * sizeof(Item));
  return done;
}

}  // namespace

PlainLines::PlainLines(const TextLayout& layout)
    : delimiter_(layout.format.delimiter.value_or('\0')),
      longest_line_(layout.longest_line),
      in_blanks_(!layout.format.delimiter),
      wanted_(list_wanted_fields(layout)) {
  const auto mark = [&](char c, unsigned kind) {
    unsigned char& kinds = kinds_[static_cast<unsigned char>(c)];
    kinds = static_cast<unsigned char>(kinds | kind);
  };
  for (const char c : {'\n', '\r'}) mark(c, kEndsField | kEndsLine | kUnusualStart);
  for (const char c : {' ', '\t'}) {
    if (in_blanks_) mark(c, kEndsField);
    if (c != delimiter_) mark(c, kUnusualStart);
  }
  if (!in_blanks_) mark(delimiter_, kEndsField);
  if (layout.format.has_quotes) mark('"', kUnusual | kUnusualStart);
  mark('\0', kUnusual);
  for (const char c : layout.format.comments) mark(c, kUnusualStart);
  in_pairs_ = layout.outputs.size() == 2 && wanted_.size() == 2 && wanted_[0].field == 0 &&
              wanted_[1].field == 1 && is_integer_type(wanted_[0].type) &&
              is_integer_type(wanted_[1].type);
}

const char* PlainLines::read_pairs(const char* begin, const char* end,
                                   std::optional<std::size_t> num_fields,
                                   const std::vector<TextTarget>& targets, std::size_t& row) const {
  if (!in_pairs_ || (num_fields && *num_fields != 2)) return begin;
  std::byte* left_place = wanted_[0].place(targets, row);
  std::byte* right_place = wanted_[1].place(targets, row);
  const char delimiter = in_blanks_ ? ' ' : delimiter_;
  const char other_delimiter = in_blanks_ ? '\t' : delimiter_;
  std::size_t count = 0;
  const char* line = begin;
  for (; line != end; ++count) {
    // The first two characters that are no digits end the numbers of a plain line. To find both at
    // once matters most: where the next line starts is what the next round has to wait for.
    const std::uint32_t others = other_than_digits(line);
    const std::uint32_t other_two = others & (others - 1);
    if (other_two == 0) break;
    const auto left_count = static_cast<std::size_t>(std::countr_zero(others));
    const auto line_count = static_cast<std::size_t>(std::countr_zero(other_two));
    const std::size_t right_count = line_count - left_count - 1;
    if (left_count - 1 > 15 || right_count - 1 > 15) break;
    const char found = line[left_count];
    if (found != delimiter && found != other_delimiter) break;
    const char* line_end = line + line_count;
    if (*line_end != '\n') [[unlikely]] {
      if (line_end[0] != '\r' || line_end[1] != '\n') break;
      ++line_end;
    }
    put(left_place + count * sizeof(std::int64_t), number_at(line, left_count));
    put(right_place + count * sizeof(std::int64_t), number_at(line + left_count + 1, right_count));
    line = line_end + 1;
  }
  row += count;
  return line;
}

const char* PlainLines::read_row(std::string_view lines, const char* line,
                                 std::optional<std::size_t> num_fields,
                                 const std::vector<TextTarget>& targets, std::size_t row) const {
  return in_blanks_ ? read_row_of<true>(lines, line, num_fields, targets, row)
                    : read_row_of<false>(lines, line, num_fields, targets, row);
}

// The end of a field of no interest; nullptr if it is not plain.
const char* PlainLines::skip_field(const char* p) const {
  while (!is(*p, kEndsField | kUnusual)) ++p;
  return is(*p, kUnusual) ? nullptr : p;
}

const char* PlainLines::read_time(const char* p, std::byte* place) const {
  const char* const end = skip_field(p);
  if (end == nullptr) return nullptr;
  const auto time = parse_time(std::string_view(p, static_cast<std::size_t>(end - p)));
  if (time) put(place, *time);
  return time ? end : nullptr;
}

template <bool kBlanks>
const char* PlainLines::read_text(const char* p, const TextTarget& target, std::size_t row) const {
  const char* const end = skip_field(p);
  if (end == nullptr) return nullptr;
  const std::string_view text(p, static_cast<std::size_t>(end - p));
  if (text.empty() || !is_ascii(text)) return nullptr;
  if (!kBlanks) {
    // Blanks around the text do not belong to it.
    for (const char c : {text.front(), text.back()})
      if (c == ' ' || c == '\t') return nullptr;
  }
  add_text(target, row, text);
  return end;
}

template <bool kBlanks>
const char* PlainLines::read_row_of(std::string_view lines, const char* line,
                                    std::optional<std::size_t> num_fields,
                                    const std::vector<TextTarget>& targets, std::size_t row) const {
  if (is(*line, kUnusualStart)) return nullptr;
  const char* p = line;             // the start of field `field`
  const char* field_end = nullptr;  // its end, if it has been read
  std::size_t field = 0;
  // Moves on to the next field; false if there is none or the line is not plain.
  const auto advance = [&](const char* end) {
    if (end == nullptr || is(*end, kEndsLine)) return false;
    p = end + 1;
    if constexpr (kBlanks)
      while (*p == ' ' || *p == '\t') ++p;
    if (kBlanks && is(*p, kEndsLine)) return false;
    ++field;
    field_end = nullptr;
    return true;
  };
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    while (field < wanted_[i].field)
      if (!advance(field_end != nullptr ? field_end : skip_field(p))) return nullptr;
    if (const std::size_t run = wanted_[i].run; !kBlanks && run > 1) {
      std::byte* const place = wanted_[i].place(targets, row);
      const std::size_t count = wanted_[i].type == TextType::kFloat32
                                    ? read_run<float>(lines.data(), p, run, delimiter_, place)
                                    : read_run<double>(lines.data(), p, run, delimiter_, place);
      if (count == run) {
        i += count - 1;
        field += count - 1;
        field_end = p;
        continue;
      }
      i += count;
      field += count;
    }
    const WantedField& wanted = wanted_[i];
    if (wanted.type == TextType::kText)
      field_end = read_text<kBlanks>(p, targets[wanted.output], row);
    else if (wanted.type == TextType::kTime)
      field_end = read_time(p, wanted.place(targets, row));
    else
      field_end =
          read_number(p, lines.data() + lines.size(), wanted.type, wanted.place(targets, row));
    if (field_end == nullptr || !is(*field_end, kEndsField)) return nullptr;
  }
  // Fields behind the last that is wanted only have to be there, and as many as in other rows.
  while (!is(*field_end, kEndsLine)) {
    if constexpr (kBlanks) {
      const char* blanks_end = field_end;
      while (*blanks_end == ' ' || *blanks_end == '\t') ++blanks_end;
      if (is(*blanks_end, kEndsLine)) {
        field_end = blanks_end;
        break;
      }
    }
    if (!advance(field_end)) return nullptr;
    field_end = skip_field(p);
    if (field_end == nullptr) return nullptr;
  }
  if (num_fields && field + 1 != *num_fields) return nullptr;
  const char* const next = next_line(field_end);
  if (next == nullptr || static_cast<std::size_t>(next - line) > longest_line_) return nullptr;
  return next;
}

}  // namespace graphmount
