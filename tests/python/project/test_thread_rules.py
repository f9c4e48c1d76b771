"""Threads, locks and the GIL have one way in each: the source is searched for other ways.

Every lock of the core must be one of three kinds: free in a child of fork (`fork_safe_mutex`), part
of an object that a child leaves alone (`ProcessBound`), or of one call, which is over before its
caller can fork. See "Threads and processes" in docs/threads.md, and ARCHITECTURE.md.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

#: Where the core may name what starts threads: its own, or OpenMP's.
STARTERS = {f"system/threads/{name}" for name in ("thread.hpp", "thread.cpp", "team.cpp")}
#: Files with locks that a child of fork may find held, and why that does no harm.
LOCKS = {
    "system/threads/fork_safe_mutex.hpp": "free in a child",
    "loading/batch_pipeline.hpp": "ProcessBound",
    "loading/batch_pipeline.cpp": "ProcessBound",
    "loading/rows/read_threads.hpp": "ProcessBound, and part of a TableFeed, which is so too",
    "loading/rows/row_sweep.hpp": "part of a TableFeed, which is ProcessBound",
    "system/threads/parallel.cpp": "pools are forgotten in a child, jobs are of one call",
    "system/threads/running_total.hpp": "of one call",
    "system/threads/team.cpp": "of one call",
    "system/threads/thread.cpp": "of one call: starting a thread; and a fork_safe_mutex",
    "system/threads/thread.hpp": "a fork_safe_mutex",
    "verify/verifier.hpp": "of one call",
    "graph/degree_summary.cpp": "of one call",
    "graph/ids/node_id_table.cpp": "of one call",
    "table/feature_writer.hpp": "of one call: compile functions own it",
    "system/files/atomic_file.hpp": "part of a FeatureWriter",
    "graph/page_requests.hpp": "std::call_once, which begins anew in a child",
}
#: Modules of Python that may name what starts threads or locks.
PYTHON = {
    "_support/threads/read_ahead.py": "starts threads",
    "_compile/cache/content_key.py": "starts threads, of one call",
    "_support/threads/process_lock.py": "free in a child",
    "_support/threads/one_taker.py": "made anew in a child",
    "torch/epoch.py": "shared by processes",
    "_loading/ranks/shared_rows.py": "without a lock; a child closes its socket",
    "torch/ranks/in_time.py": "waited for with a time limit; shares two lists with who waits",
    "torch/ranks/signs_of_life.py": "of one process, which a child never touches",
}


def code_of(path):
    """The file without comments."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        return re.sub(r'""".*?"""|#[^\n]*', "", text, flags=re.DOTALL)
    return re.sub(r"//[^\n]*", "", text)


def files_with(pattern, folder, suffixes):
    found = set()
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix in suffixes and re.search(pattern, code_of(path)):
            found.add(path.relative_to(ROOT / folder).as_posix())
    return found


CPP = {".cpp", ".hpp"}


@pytest.mark.parametrize("folder", ["cpp/graphmount", "bindings"])
def test_threads_are_started_in_one_place(folder):
    own = r"std::thread\b(?!::(id|hardware_concurrency))|std::jthread|std::async|pthread_create"
    assert files_with(rf"{own}|GOMP_|__kmpc_|#pragma omp", folder, CPP) <= STARTERS
    assert files_with(r"\.detach\(", folder, CPP) == set()


def test_no_fork_comes_while_a_thread_is_made():
    """Or the child would free memory of a thread that is half made, for the second time."""
    for name in STARTERS:
        code = code_of(ROOT / "cpp/graphmount" / name)
        starts = list(re.finditer(r"\bstd::thread( \w+)?[({](?!std::function)|\.parallel\(", code))
        assert len(starts) == (not name.endswith(".hpp")), "let threads be made in one place"
        for start in starts:
            function = code[: start.start()].rpartition("\n\n")[2]
            assert "hold_off_forks()" in function


def test_locks_are_known():
    pattern = r"(mutex|condition_variable|once_flag|semaphore|latch|barrier|binary_semaphore)\b"
    found = files_with(rf"\bstd::(shared_|recursive_|timed_)?{pattern}", "cpp/graphmount", CPP)
    assert found == set(LOCKS), "say in LOCKS why a child of fork can live with it"
    assert files_with(rf"\bstd::(shared_|recursive_|timed_)?{pattern}", "bindings", CPP) == set()


def test_the_gil_is_taken_through_the_gate():
    pattern = r"gil_scoped_|PyGILState_|PyEval_(Save|Restore)Thread|Py_BEGIN_ALLOW_THREADS"
    assert files_with(pattern, "bindings", CPP) == {"gil.cpp", "gil.hpp"}
    assert files_with(r"Python\.h|nanobind", "cpp/graphmount", CPP) == set()


def test_python_has_few_threads_and_locks():
    pattern = (
        r"\bThread\(|\b(R?Lock|Condition|Semaphore|BoundedSemaphore|Event|Barrier)\(\)|"
        r"cached_property|concurrent\.futures|start_new_thread"
    )
    assert files_with(pattern, "src/graphmount", {".py"}) == set(PYTHON)
    exits = files_with(r"\batexit\b", "src/graphmount", {".py"})
    assert exits == {"_support/threads/interpreter_exit.py", "torch/host_pinning.py"}


def test_searching_finds(tmp_path):
    """The patterns above find what they are for."""
    for text in ("std::thread worker(run);", "std::mutex mutex;", "worker.detach();"):
        (tmp_path / "one.cpp").write_text(f"int a;\n  {text}  // here\n")
        pattern = r"std::thread\b(?!::id)|std::mutex|\.detach\("
        assert re.search(pattern, code_of(tmp_path / "one.cpp"))
    (tmp_path / "one.cpp").write_text("// std::mutex mutex;\nstd::thread::id caller;\n")
    assert not re.search(r"std::thread\b(?!::id)|std::mutex", code_of(tmp_path / "one.cpp"))
