// Guesses what a file is that is not one of ours, so that messages can say what to do with it.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace graphmount {

/// `start` is the beginning of the file; the answer completes "not a graphmount file: …".
std::string describe_foreign_file(std::span<const std::byte> start);

}  // namespace graphmount
