#include "graphmount/text/line_count.hpp"

#include <algorithm>

namespace graphmount {

std::size_t count_lines(std::string_view text) {
  std::size_t count = 0;
  // In steps whose counts fit into a byte, which compilers turn into vector instructions.
  constexpr std::size_t kStep = 192;
  for (; text.size() >= kStep; text.remove_prefix(kStep)) {
    unsigned char in_step = 0;
    for (std::size_t i = 0; i < kStep; ++i)
      in_step = static_cast<unsigned char>(in_step + (text[i] == '\n'));
    count += in_step;
  }
  return count + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace graphmount
