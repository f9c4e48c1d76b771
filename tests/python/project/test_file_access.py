"""Every way to a file goes through a helper that knows what strangers may have put there.

A lint over the sources: whoever opens, makes, renames or removes files by hand is named here, with
the reason, or is found.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "src" / "graphmount"
CORE = ROOT / "cpp" / "graphmount"

#: Calls by their last name, and by what stands before it where the name alone says nothing.
FORBIDDEN = {
    "open": None,  # also os.open, io.open, gzip.open, Path.open
    "fdopen": None,
    "ZipFile": None,
    "GzipFile": None,
    "memmap": None,
    "fromfile": None,
    "tofile": None,
    "load": {"np", "numpy", "torch"},
    "save": {"np", "numpy", "torch"},
    "read_text": None,
    "read_bytes": None,
    "write_text": {"Path", "path"},
    "write_bytes": None,
    "touch": None,
    "mkdtemp": None,
    "mkstemp": None,
    "TemporaryDirectory": None,
    "TemporaryFile": None,
    "NamedTemporaryFile": None,
    "unlink": None,
    "remove": {"os"},
    "removedirs": None,
    "rmdir": None,
    "rmtree": None,
    "rename": {"os"},
    "replace": {"os"},
    "mkdir": None,
}

#: Who may: the helpers, and what they do by hand.
ALLOWED = {
    "_support/files/regular_files.py": {"open"},  # the way in to what others have made
    # By the descriptor of a folder.
    "_support/files/opened_folder.py": {"open", "unlink", "rmdir", "mkdir", "replace"},
    "_compile/output/replacement.py": {"rmdir"},  # the same, of a dataset that is replaced
    "_support/files/lock_file.py": {"open", "unlink"},
    "_support/files/temporary_folders.py": {"open", "mkdir", "rmtree", "unlink"},
    "_support/files/text_output.py": {"open", "unlink", "replace"},
    "_compile/output/path.py": {"TemporaryFile"},
    "_compile/output/atomic_folder.py": {"open", "unlink", "rename"},
    "_compile/dataset/files.py": {"open"},  # a new file in a folder of our own, O_EXCL
    "_compile/output/own_sources.py": {"open"},  # /proc/self/maps
    "cli/interruption.py": {"open"},  # the script that Python is running
    "cli/output.py": {"open"},  # os.devnull
    "_mount/free_memory.py": {"read_text"},  # /proc and /sys
    "doctor/machine.py": {"read_text"},  # the same
    "torch/ranks/signs_of_life.py": {"read_text"},  # the same
    "torch/ranks/together.py": {"save", "load"},  # in memory
    # torch's own format: into a file beside it, which gets its name in the end, O_EXCL.
    "torch/ranks/checkpoint_file.py": {"open", "save", "load", "replace", "unlink"},
    "cli/info/page.py": {"read_text"},  # the style sheet, a file of the package
    "doctor/probe_file.py": {"TemporaryFile"},  # which has no name
    "_compile/order/new_id_store.py": {"TemporaryFile"},  # the same
    "torch/inference/passes.py": {"unlink"},  # in a temporary folder of its own
    # The folder of the outputs, and complete files that get their names in it.
    "torch/inference/places.py": {"open", "mkdir", "rmdir", "replace"},
    "_sources/arrays/stored_bytes.py": {"open"},  # members of an archive that is open
    "_sources/text/matrix_market.py": {"open"},  # gzip over a file that is open
    "_sources/layouts/small_files.py": {"open"},  # the same
    "_sources/layouts/mag240m.py": {"load"},  # torch, from a file that is open
}

#: `open` of our own streams, which takes no path.
STREAMS = {"indptr", "indices", "weights", "timestamps", "stream", "stored"}


def calls_in(path):
    """All calls that the lint looks for: the name, the line, and whether it is a harmless one."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        owner = function.value if isinstance(function, ast.Attribute) else None
        owner_name = getattr(owner, "attr", getattr(owner, "id", "")).lstrip("_")
        if name not in FORBIDDEN or (name == "open" and owner_name in STREAMS):
            continue
        owners = FORBIDDEN[name]
        if owners is None or owner_name in owners:
            yield name, node.lineno


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.name)
def test_python_goes_through_the_helpers(path):
    place = str(path.relative_to(PACKAGE))
    found = [
        f"{place}:{line}: {name}(" for name, line in calls_in(path) if name not in allowed(place)
    ]
    assert not found, (
        f"{found}: open what others have made with _support.files.regular_files, write text with "
        "text_output, make folders with temporary_folders"
    )


def allowed(place):
    return ALLOWED.get(place, set())


def test_no_exception_is_left_over():
    for place, names in ALLOWED.items():
        found = {name for name, _ in calls_in(PACKAGE / place)}
        assert names <= found, f"{place} no longer needs {sorted(names - found)}"


#: What only these files of the core may have. All of it goes through system_calls.hpp, which has a
#: test of its own; this is about who asks.
CORE_RULES = {
    r"FileDescriptor::open\(|open_again\(": {
        "atomic_file.cpp",
        "block_file.cpp",
        "file_descriptor.cpp",
        "mapped_file.hpp",
        "mapped_file.cpp",
        "regular_file.cpp",
        "spill_file.cpp",
    },
    r"(?<![\w:])::open\(|\bfopen\(|\bopenat\(|std::[io]?fstream|\bcreat\(": {"system_calls.cpp"},
    r"O_CREAT|O_TMPFILE|make_temporary\(|mkstemp\(|mkostemp\(": {
        "atomic_file.cpp",
        "spill_file.cpp",
        "system_calls.cpp",
        "system_calls.hpp",
    },
    r"O_TRUNC": set(),
    r"\bunlink\(|\brename\(|link_followed\(|linkat\(|filesystem::remove|filesystem::rename": {
        "atomic_file.cpp",
        "spill_file.cpp",
        "system_calls.cpp",
        "system_calls.hpp",
    },
}


@pytest.mark.parametrize("pattern", CORE_RULES)
def test_core_goes_through_the_helpers(pattern):
    found = {
        path.name
        for path in CORE.rglob("*.[ch]pp")
        if any(
            re.search(pattern, line.partition("//")[0]) for line in path.read_text().splitlines()
        )
    }
    assert found <= CORE_RULES[pattern], (
        f"{sorted(found - CORE_RULES[pattern])}: open what others have made with open_regular, "
        "and write with AtomicFile or SpillFile"
    )


def test_whoever_makes_a_file_makes_a_new_one():
    for path in CORE.rglob("*.cpp"):
        for line in path.read_text().splitlines():
            assert "O_CREAT" not in line or "O_EXCL" in line, f"{path.name}: {line}"
