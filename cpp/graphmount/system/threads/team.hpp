// Work beside torch, whose threads are OpenMP's: parallel loops in them, for what is to be done
// between two of its operations, and a word to them from threads that work at the same time.
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

/// Has the idle threads of OpenMP sleep at once for as long as the calling thread lives, which
/// works beside them. They look out for work for a millisecond else, on a processor that the caller
/// could use. OpenMP does so by itself when it knows of more threads than there are processors: the
/// caller becomes one of them, with a thread of its own that sleeps. Does nothing where the user
/// chose how OpenMP waits (OMP_WAIT_POLICY, GOMP_SPINCOUNT), without OpenMP, and in a forked child.
void work_beside_team() noexcept;

}  // namespace graphmount
