#include "graphmount/graph/ids/order_fingerprint.hpp"

#include <array>
#include <span>

#include "graphmount/base/checksum.hpp"
#include "graphmount/base/interrupt.hpp"

namespace graphmount {
namespace {

// 0 means that there is no fingerprint.
std::uint64_t not_zero(std::uint64_t fingerprint) {
  return fingerprint == 0 ? 1 : fingerprint;
}

}  // namespace

std::uint64_t order_fingerprint(const ExternalIds& ids) {
  if (ids.empty()) return 0;
  Xxh64 all;
  if (ids.names.empty()) {
    ids.for_each_numbers(
        [&](std::span<const std::int64_t> numbers) { all.add(std::as_bytes(numbers)); });
    return not_zero(all.hash());
  }
  interruptible_for(static_cast<std::size_t>(ids.size()), [&](std::size_t i) {
    const std::uint64_t hash = hash_name(ids.names[i]);
    all.add(std::as_bytes(std::span(&hash, 1)));
  });
  return not_zero(all.hash());
}

std::uint64_t typed_order(std::string_view type, std::uint64_t order) {
  const std::array<std::uint64_t, 2> parts = {xxh64(std::as_bytes(std::span(type))), order};
  return not_zero(xxh64(std::as_bytes(std::span(parts))));
}

}  // namespace graphmount
