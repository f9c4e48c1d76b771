// Whether bytes are text: names of nodes are UTF-8, and Python takes no other.
#pragma once

#include <string_view>

namespace graphmount {

bool is_utf8(std::string_view text);

}  // namespace graphmount
