#include "graphmount/format/foreign_file.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace graphmount {

std::string describe_foreign_file(std::span<const std::byte> start) {
  const auto begins_with = [&](std::string_view prefix) {
    return start.size() >= prefix.size() &&
           std::memcmp(start.data(), prefix.data(), prefix.size()) == 0;
  };
  const std::string advice = "; compile it first, with compile_graph or compile_features";
  if (begins_with("\x93NUMPY")) return "it is a NumPy .npy file" + advice;
  if (begins_with("PK\x03\x04")) return "it is a zip archive, perhaps a NumPy .npz file" + advice;
  if (begins_with("PAR1")) return "it is a Parquet file" + advice;
  if (begins_with("\x1f\x8b")) return "it is compressed with gzip" + advice;
  if (begins_with("\x89GM")) return "its first bytes are damaged, as by a transfer in text mode";
  const bool is_text = std::all_of(start.begin(), start.end(), [](std::byte byte) {
    const auto c = std::to_integer<unsigned char>(byte);
    return c >= 0x20 || c == '\n' || c == '\r' || c == '\t';
  });
  if (is_text) return "it looks like text" + advice;
  return "its first bytes are not those of one";
}

}  // namespace graphmount
