// What the graph compiler and the parts of a graph take alike: external ids, and what becomes of
// edges that are there several times.
#pragma once

#include <optional>
#include <stdexcept>
#include <tuple>
#include <variant>

#include "convert/arrays.hpp"
#include "convert/names.hpp"
#include "convert/words.hpp"
#include "graphmount/compile/neighbor_lists.hpp"
#include "graphmount/graph/ids/external_ids.hpp"

namespace graphmount::bindings {

template <>
inline constexpr auto kWords<Dedup> = make_words<Dedup>(
    "dedup",
    {{"keep", Dedup::kKeepAll}, {"first", Dedup::kKeepFirst}, {"sum", Dedup::kSumWeights}});

using IdColumn = Column<std::int64_t>;
using NarrowIds = Column<std::uint32_t>;
using AnyIds = std::variant<NarrowIds, IdColumn>;

/// Ids of a caller in the form in which the core takes them; they live as long as this.
struct GivenIds {
  std::optional<CallerNames> names;
  ExternalIds ids;
};

using NameColumns = std::tuple<IdColumn, Column<std::uint8_t>>;

inline GivenIds to_ids(const std::optional<AnyIds>& given_numbers,
                       const std::optional<NameColumns>& names) {
  GivenIds given;
  if (given_numbers) {
    if (const auto* numbers = std::get_if<NarrowIds>(&*given_numbers))
      given.ids.narrow_numbers = to_span(*numbers);
    else
      given.ids.numbers = to_span(std::get<IdColumn>(*given_numbers));
  }
  if (names) {
    given.names.emplace(to_names(std::get<0>(*names), std::get<1>(*names)));
    given.ids.names = given.names->column();
  }
  const auto& offsets = given.ids.names.offsets;
  if (!offsets.empty() && (offsets.front() != 0 || static_cast<std::size_t>(offsets.back()) !=
                                                       given.ids.names.bytes.size()))
    throw std::invalid_argument("the offsets of node_names do not begin and end with the bytes");
  return given;
}

/// New ids of nodes, which fill(span of them) writes without the GIL: int64, or uint32.
template <class Fill>
nb::object make_ids(std::size_t size, bool wide, const Fill& fill) {
  return wide ? nb::cast(make_array<NodeId>(size, fill))
              : nb::cast(make_array<std::uint32_t>(size, fill));
}

}  // namespace graphmount::bindings
