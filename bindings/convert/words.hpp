// Words that users write, as values of the core's enums: bindings take and give these.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "graphmount/base/error.hpp"
#include "graphmount/base/types.hpp"
#include "graphmount/sampling/negatives/negative_sampling.hpp"

namespace graphmount::bindings {

/// The words for the values of an enum, and what messages call an argument that has one of them.
template <class Enum, std::size_t kSize>
struct WordTable {
  std::string_view argument;
  std::array<std::pair<std::string_view, Enum>, kSize> words;
};

template <class Enum, std::size_t kSize>
constexpr WordTable<Enum, kSize> make_words(
    std::string_view argument, const std::pair<std::string_view, Enum> (&words)[kSize]) {
  return {argument, std::to_array(words)};
}

/// The table of an enum. Those that one file needs stand there.
template <class Enum>
inline constexpr std::nullptr_t kWords = nullptr;

template <>
inline constexpr auto kWords<Direction> =
    make_words<Direction>("direction", {{"in", Direction::kIn}, {"out", Direction::kOut}});

template <>
inline constexpr auto kWords<NegativeWeighting> =
    make_words<NegativeWeighting>("weighting", {{"uniform", NegativeWeighting::kUniform},
                                                {"degree", NegativeWeighting::kDegree}});

/// Throws std::invalid_argument, with all words, for one that is not among them.
template <class Enum>
Enum to_value(std::string_view given) {
  std::string known;
  for (std::size_t i = 0; const auto& [word, value] : kWords<Enum>.words) {
    if (word == given) return value;
    known += say(i == 0 ? "'" : i + 1 < kWords<Enum>.words.size() ? ", '" : " or '", word, "'");
    ++i;
  }
  throw std::invalid_argument(say(kWords<Enum>.argument, " is ", known, ", not '", given, "'"));
}

template <class Value>
concept HasWords = std::is_enum_v<Value> && !std::is_null_pointer_v<decltype(kWords<Value>)>;

}  // namespace graphmount::bindings

namespace nanobind::detail {

/// An argument or a result that is such a word. Nanobind has the same for enums that it binds.
template <graphmount::bindings::HasWords Enum>
struct type_caster<Enum, enable_if_t<std::is_enum_v<Enum>>> {
  NB_TYPE_CASTER(Enum, const_name("str"))

  bool from_python(handle source, uint8_t flags, cleanup_list* cleanup) {
    make_caster<std::string> text;
    if (!text.from_python(source, flags, cleanup)) return false;
    value = graphmount::bindings::to_value<Enum>(text.value);
    return true;
  }

  static handle from_cpp(Enum given, rv_policy, cleanup_list*) {
    for (const auto& [word, known] : graphmount::bindings::kWords<Enum>.words)
      if (known == given)
        return PyUnicode_FromStringAndSize(word.data(), static_cast<Py_ssize_t>(word.size()));
    raise("a value without a word");
  }
};

}  // namespace nanobind::detail
