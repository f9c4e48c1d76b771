// Runs of decimal fractions, as `read_fraction_run` reads them, on processors with AVX-512.
//
// First all marks of the run are found, 64 characters at a look: their positions are listed, and
// the digits put together without them. Then no number has to wait for another: sixteen are made at
// once, with their points in the same place, so that one power of ten does for all of them.
#pragma once

#include <cstddef>

#if defined(__x86_64__) && defined(__GNUC__)
#define GRAPHMOUNT_HAS_AVX512_RUNS
#endif

namespace graphmount {

#ifdef GRAPHMOUNT_HAS_AVX512_RUNS

/// Whether this processor can do it.
bool can_read_by_avx512();

/// What `read_fraction_run` does, with the same results, but that it stops at integers too, and
/// where of some numbers next to each other one has many digits before the point and another many
/// behind it; it reads nothing before the text. Item is float or double.
template <class Item>
std::size_t read_run_by_avx512(const char*& text, std::size_t count, char delimiter,
                               std::byte* place);

#endif

}  // namespace graphmount
