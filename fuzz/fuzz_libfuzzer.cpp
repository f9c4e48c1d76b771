// The entry points that libFuzzer wants, for either target. Half of the changes are ours, which
// know where an input means something; the others are those of libFuzzer.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "target.hpp"

namespace graphmount::fuzz {

void give_up(const std::string& why) {
  std::fprintf(stderr, "fuzz: %s\n", why.c_str());
  std::abort();
}

}  // namespace graphmount::fuzz

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  graphmount::fuzz::run_input(std::as_bytes(std::span(data, size)));
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  if (seed % 2 == 0) return LLVMFuzzerMutate(data, size, most);
  const auto bytes = std::as_bytes(std::span(data, size));
  graphmount::fuzz::Bytes input(bytes.begin(), bytes.end());
  graphmount::fuzz::mutate(input, seed);
  size = std::min(input.size(), most);
  std::transform(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(size), data,
                 [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
  return size;
}
