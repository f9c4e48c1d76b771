// The entry point that libFuzzer wants. Give it the files that `fuzz_open --corpus FOLDER` writes.
#include <cstddef>
#include <cstdint>

#include "read_everything.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  graphmount::fuzz::read_everything(std::as_bytes(std::span(data, size)));
  return 0;
}
