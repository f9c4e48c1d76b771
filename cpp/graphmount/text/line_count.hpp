// How many lines a text has: its line breaks are counted, many characters at a look.
#pragma once

#include <cstddef>
#include <string_view>

namespace graphmount {

std::size_t count_lines(std::string_view text);

}  // namespace graphmount
