"""All calls of the core to the system about files are in system_calls.cpp.

There tests can make them fail; a call anywhere else would be one that no test of faults ever sees.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

# By the names that the C library gives them, with those of its versions for large files.
CALLS = re.compile(
    r"""(access|chmod|close|copy_file_range|creat|dup[23]?|fallocate|fchmod|fchown|fcntl|fdatasync
    |fdopen|flock|fopen|freopen|fstat|fstatat|fstatfs|fsync|ftruncate|ioctl|link|linkat|lockf|lseek
    |lstat|madvise|memfd_create|mincore|mkdir|mkdirat|mkdtemp|mkostemp|mkstemp|mlock|mmap|mremap
    |msync|munmap|open|openat|opendir|pipe|pipe2|posix_fadvise|posix_fallocate|pread|preadv2?
    |pwrite|pwritev2?|read|readahead|readlink|readv|rename|renameat2?|rmdir|sendfile|stat|statfs
    |statvfs|statx|symlink|sync|sync_file_range|syncfs|syscall|truncate|unlink|unlinkat|write
    |writev)(64)?""",
    re.VERBOSE,
)

# The handler of SIGBUS puts pages over those that are gone, and has nobody to tell if it cannot.
# The wait of std::atomic is a system call (futex), but none about files.
ALLOWED = {("page_guard", "mmap"), ("thread", "syscall")}


def calls_of_objects() -> set[tuple[str, str]]:
    """Which object of the newest core calls what, of the functions above."""
    nm = shutil.which("nm")
    cores = sorted(ROOT.glob("build/*/libgraphmount_core.a"), key=lambda path: path.stat().st_mtime)
    if nm is None or not cores:
        pytest.skip("needs nm, and a core that was built here")
    command = [nm, "-A", "-u", str(cores[-1])]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.findall(r":(\w+)\.cpp\.o:\s+U (\w+)", listing)
    return {(unit, name) for unit, name in found if CALLS.fullmatch(name)}


def test_only_one_object_calls_the_system_about_files() -> None:
    calls = calls_of_objects()
    assert len(calls) > 20, "nothing was looked at"
    offenders = {call for call in calls - ALLOWED if call[0] != "system_calls"}
    assert offenders == set(), "call these by system_call::, declared in system_calls.hpp"


def test_every_call_can_be_made_to_fail() -> None:
    """What is missing there would have the linker take all calls from the core instead."""
    header = (ROOT / "cpp/graphmount/system/files/system_calls.hpp").read_text(encoding="utf-8")
    faulty = (ROOT / "tests/cpp/faults/faulty_system_calls.cpp").read_text(encoding="utf-8")
    start = re.compile(r"^(?:int|ssize_t|void\*|std::u?int32_t) (\w+)\(", re.MULTILINE)
    declared, defined = set(start.findall(header)), set(start.findall(faulty))
    assert len(declared) > 20
    assert declared - defined == set(), "define these in faulty_system_calls.cpp too"


def test_no_file_of_the_core_uses_streams() -> None:
    """Nor do the bindings, which are not in the library that the test above looks at."""
    sources = [*ROOT.glob("cpp/**/*.[ch]pp"), *ROOT.glob("bindings/*.[ch]pp")]
    assert len(sources) > 100
    calls = re.compile(r"#include <(fstream|sys/syscall\.h|sys/file\.h)>|std::[io]?fstream")
    offenders = [path.name for path in sources if calls.search(path.read_text(encoding="utf-8"))]
    assert offenders == ["system_calls.cpp"]
