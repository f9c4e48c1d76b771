#include "graphmount/graph/ids/order_fingerprint.hpp"

#include <array>
#include <span>
#include <vector>

#include "graphmount/base/checksum.hpp"

namespace graphmount {
namespace {

// 0 means that there is no fingerprint.
std::uint64_t not_zero(std::uint64_t fingerprint) {
  return fingerprint == 0 ? 1 : fingerprint;
}

}  // namespace

std::uint64_t order_fingerprint(const ExternalIds& ids) {
  if (!ids.names.empty()) {
    std::vector<std::uint64_t> hashes(static_cast<std::size_t>(ids.size()));
    for (std::size_t i = 0; i < hashes.size(); ++i)
      hashes[i] = xxh64(std::as_bytes(std::span(ids.names[i])));
    return not_zero(xxh64(std::as_bytes(std::span(hashes))));
  }
  return ids.numbers.empty() ? 0 : not_zero(xxh64(std::as_bytes(ids.numbers)));
}

std::uint64_t typed_order(std::string_view type, std::uint64_t order) {
  const std::array<std::uint64_t, 2> parts = {xxh64(std::as_bytes(std::span(type))), order};
  return not_zero(xxh64(std::as_bytes(std::span(parts))));
}

}  // namespace graphmount
