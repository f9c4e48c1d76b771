// Parallel loops in the threads of torch, where the process has torch: for work between two of its
// operations.
//
// Torch's threads, which are OpenMP's, go on looking out for work for a while after an operation.
// Threads of our own would have to share the processors with them: with two cores, work of half a
// millisecond took three. So the OpenMP runtime that the process has loaded, if it has one, is
// asked to run the work in the threads that stand ready. Nothing is linked with it.
#pragma once

#include <cstddef>
#include <functional>

namespace graphmount {

/// As `parallel_for`, in as many threads as OpenMP may use; as `parallel_for` itself where there is
/// no OpenMP, and in a forked child, where it has no threads.
void team_for(std::size_t count, std::size_t grain,
              const std::function<void(std::size_t, std::size_t)>& body);

}  // namespace graphmount
