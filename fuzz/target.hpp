// What a fuzzer is made of: inputs to begin with, a way to change one, and what to do with it.
//
// file_target.cpp and text_target.cpp are two of them. fuzz_main.cpp drives either with any
// compiler; fuzz_libfuzzer.cpp hands either to libFuzzer, which finds its way by coverage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace graphmount::fuzz {

using Bytes = std::vector<std::byte>;

/// Ends the process, with `why`, and so that the input is kept.
[[noreturn]] void give_up(const std::string& why);

/// Good inputs, all small.
std::vector<Bytes> make_corpus();

/// Changes an input a little, where it matters. The same seed makes the same change.
void mutate(Bytes& input, std::uint64_t seed);

/// Ends the process if anything comes of the input that should not.
void run_input(std::span<const std::byte> input);

}  // namespace graphmount::fuzz
