// What a fuzzer does with bytes: opens them as a file of either kind and calls everything there is.
#pragma once

#include <cstddef>
#include <span>

namespace graphmount::fuzz {

/// Ends the process if anything but an error of ours comes of it, or if a file that verifies cannot
/// be read. The checksums are made right first; else nearly all changes would end at them.
void read_everything(std::span<const std::byte> input);

}  // namespace graphmount::fuzz
