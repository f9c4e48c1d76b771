"""The rooms of the house: who may use whom, and that no room is a hall.

A file of the core may include files of its own room and of the rooms that `CORE` allows; a module
of Python may import from its own package and from those that `PYTHON` allows. Both tables are in
the order of the rooms, and a room names only rooms that come before it: so there is no circle.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CPP, PACKAGE = ROOT / "cpp" / "graphmount", ROOT / "src" / "graphmount"

#: The rooms of the core and what they may use. A room may use all that those it names may use.
CORE = {
    "base": "",
    "system/threads": "base",
    "system/files": "system/threads",
    "system/memory": "system/files",
    "system/mapping": "system/files",
    "system/disk": "system/mapping system/memory",
    "format": "system/mapping",
    "graph/ids": "system/memory",
    "graph": "format graph/ids",
    "table": "format",
    "table/reading": "table system/disk",
    "text/numbers": "",
    "text/lines": "text/numbers base",
    "text": "text/lines system/memory",
    "compile/edges": "system/memory",
    "compile": "compile/edges graph table",
    "compile/parts": "compile",
    "sampling/neighbors": "graph table",
    "sampling/negatives": "graph",
    "sampling/walks": "sampling/negatives",
    "training": "system/threads",
    "loading/rows": "table/reading",
    "loading": "loading/rows sampling/neighbors sampling/negatives training",
    "verify": "graph table",
}

#: The packages of Python; "" is what stands beside them: `errors`, `_core`.
PYTHON = {
    "": "",
    "_support": "",
    "_support/files": "_support",
    "_support/threads": "_support",
    "_mount": "_support/files _support/threads",
    "_dataset/spaces": "_mount",
    "_dataset/typed": "_mount",
    "_dataset": "_dataset/spaces _dataset/typed",
    "_sources/contract": "_mount",
    "_sources/arrays": "_sources/contract",
    "_sources/text": "_sources/arrays",
    "_sources/arrow": "_sources/arrays",
    "_sources/objects": "_sources/arrays",
    "_sources/graph_files": "_sources/objects",
    "_sources/layouts": "_sources/arrow",
    "_sources": "_sources/text _sources/arrow _sources/graph_files _sources/layouts",
    "_compile/output": "_sources _dataset",
    "_compile/edges": "_sources",
    "_compile/rows": "_compile/edges _dataset/spaces",
    "_compile": "_compile/output _compile/rows",
    "_compile/order": "_sources",
    "_compile/dataset": "_compile _compile/order",
    "_compile/changes": "_compile/dataset",
    "_compile/spec": "_compile/dataset",
    "_compile/pyg": "_compile/dataset",
    "_compile/cache": "_compile/pyg",
    "datasets": "_compile/pyg",
    "_loading/batches": "_dataset",
    "_loading/data": "_dataset",
    "_loading/epochs": "_loading/data",
    "_loading/ranks": "_mount",
    "_loading/rows": "_mount",
    "_loading": "_loading/batches _loading/epochs _loading/ranks _loading/rows",
    "torch/batches": "_loading",
    "torch": "torch/batches",
    "torch/ranks": "_loading",
    "torch/inference": "torch _compile",
    "torch/nn": "torch",
    "pyg/embeddings": "_loading _compile/dataset",
    "pyg/stores": "torch",
    "pyg/sampling": "pyg/stores",
    "pyg/sources": "pyg/stores _compile/cache",
    "pyg/forms": "pyg/sources",
    "pyg": "pyg/embeddings pyg/sampling pyg/forms",
    "ray/data": "_compile _dataset",
    "ray": "torch torch/ranks ray/data",
    "graphzero": "_compile _loading",
    "doctor": "_loading",
}
#: Methods that give what another library has import it when they are called.
ON_DEMAND = {
    ("_mount/features.py", "torch"),
    ("_dataset/dataset.py", "pyg"),
    ("_dataset/typed_dataset.py", "pyg"),
    ("_dataset/changing.py", "_compile/changes"),
    ("_dataset/typed_changing.py", "_compile/changes"),
    ("_sources/objects/memory_rows.py", "torch"),
    ("_compile/edges/intake.py", "ray/data"),
}
#: What a folder may hold, itself and its folders: more than that is not kept in the head.
MOST_FILES, MOST_STEMS = 22, 16


def allowed(table):
    """For each room, all the rooms that it may use."""
    reach = {}
    for room, uses in table.items():
        direct = uses.split()
        assert set(direct) <= set(reach), f"{room} may only use rooms that stand above it"
        reach[room] = {room, *direct, *(far for near in direct for far in reach[near])}
    return reach


def wrong_includes(files):
    """Includes that point to rooms that may not be used: `files` has texts by their paths."""
    reach = allowed(CORE)
    for path, text in files.items():
        room = path.rpartition("/")[0]
        for other in re.findall(r'#include "graphmount/([\w/]+)/\w+\.hpp"', text):
            if other not in reach[room]:
                yield f"{path} includes a file of {other}"


def imported(text):
    """The modules of the package that a module imports, by their paths, with the names."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            names, module = [alias.name for alias in node.names], node.module
        elif isinstance(node, ast.Import):
            names, module = [], node.names[0].name
        else:
            continue
        first, _, rest = module.partition(".")
        if first == "graphmount":
            yield rest.replace(".", "/"), names


def wrong_imports(files):
    """The same for modules of Python."""
    reach = {room: {*rooms, ""} for room, rooms in allowed(PYTHON).items()}
    for path, text in files.items():
        room = path.rpartition("/")[0]
        if room not in reach:
            continue
        for module, names in imported(text):
            # `from graphmount.torch import x` is of the package; `from graphmount import pyg` too.
            places = [f"{module}/{name}".strip("/") for name in names] or [module]
            for place in places:
                other = place
                while other not in reach:
                    other = other.rpartition("/")[0]
                if other not in reach[room] and (path, other) not in ON_DEMAND:
                    yield f"{path} imports {place}, of {other}"


def texts(folder, suffixes):
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in sorted(folder.rglob("*"))
        if path.suffix in suffixes
    }


def test_includes_point_one_way():
    files = texts(CPP, {".cpp", ".hpp"})
    assert {path.rpartition("/")[0] for path in files} == set(CORE)
    assert list(wrong_includes(files)) == []


def test_imports_point_one_way():
    files = texts(PACKAGE, {".py"})
    # The facade, the command line, and torch's own facade may import everything.
    facades = {"__init__.py", "__main__.py", "torch/__init__.py"}
    rooms = {path.rpartition("/")[0] for path in files if not path.startswith("cli/")}
    assert rooms == set(PYTHON)
    inside = {path: text for path, text in files.items() if path not in facades}
    assert list(wrong_imports(inside)) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("base/error.cpp", '#include "graphmount/graph/graph.hpp"\n'),
        ("text/numbers/integer.hpp", '#include "graphmount/base/error.hpp"\n'),
        ("sampling/walks/skip_gram.cpp", '#include "graphmount/loading/batch_pipeline.hpp"\n'),
    ],
)
def test_a_wrong_include_is_found(path, text):
    assert len(list(wrong_includes({path: text}))) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("_support/sizes.py", "from graphmount._mount.graph import Graph\n"),
        ("_mount/graph.py", "def f():\n    from graphmount._loading import batch_loader\n"),
        ("_sources/arrays/npy_files.py", "import graphmount._compile.graph_compiler\n"),
        ("_loading/node_loader.py", "from graphmount import torch\n"),
    ],
)
def test_a_wrong_import_is_found(path, text):
    assert len(list(wrong_imports({path: text}))) == 1


@pytest.mark.parametrize("folder", [CPP, PACKAGE, ROOT / "bindings"], ids=lambda path: path.name)
def test_no_room_is_a_hall(folder):
    for room in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        things = [path for path in room.iterdir() if path.name != "__pycache__"]
        files = [path for path in things if path.suffix in {".py", ".cpp", ".hpp"}]
        marks = {"__init__.py", "CMakeLists.txt", "py.typed"}  # which are there for tools
        stems = {path.stem for path in things if path.name not in marks}
        assert len(files) <= MOST_FILES, room
        assert len(stems) <= MOST_STEMS, (room, sorted(stems))
