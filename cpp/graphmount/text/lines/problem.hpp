// Messages of the readers of text tables about a bad field: what is there, what should be there,
// and what to do.
#pragma once

#include <string>
#include <string_view>

#include "graphmount/text/lines/layout.hpp"

namespace graphmount {

/// Text from a file in quotes, fit for a message: shortened, and with bytes that are no printable
/// UTF-8 written as \xNN.
std::string show_text(std::string_view text);

/// Why `text`, a field without the blanks around it, is not of this type.
std::string describe_problem(std::string_view text, TextType type);

}  // namespace graphmount
