"""The rooms of the benchmarks: imports point one way, and no room is a hall."""

import ast
import sys
from pathlib import Path

import pytest
from run_mode import MEMCAP

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
#: Each room, and those that it may import from besides itself. "" is `catalog` and `suite`.
ROOMS = {
    "harness": set(),
    "data": {"harness"},
    "jobs": {"data", "harness"},
    "peers": set(),
    "report": {"harness"},
    "cases/parts": {"harness", "data", "jobs", "peers", "report"},
    "cases": {"cases/parts", "harness", "data", "jobs", "peers", "report"},
    "cases/training": {"harness", "data", "jobs", "peers", "report"},
    "cases/kinds": {"harness", "data", "jobs", "peers", "report"},
    "": {"harness", "report"},
}
MOST_FILES = 20

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the benchmarks ask /proc"),
    pytest.mark.skipif(not MEMCAP.exists(), reason="no benchmarks here (not a clone)"),
]


def room_of(place):
    """The room that a module is in, by its path without a suffix."""
    while place not in ROOMS:
        place = place.rpartition("/")[0]
    return place


def wrong_imports(path, text):
    """The imports of a module that its room may not have; `path` is relative to benchmarks."""
    room = room_of(path.removesuffix(".py"))
    package = path.split("/")[:-1]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            inside = node.module.split(".") if node.module else []
            other = room_of("/".join([*base, *inside]))
            if other not in {room, *ROOMS[room]}:
                yield f"{path} imports from {other!r}"


def test_imports_point_one_way():
    files = sorted(BENCHMARKS.rglob("*.py"))
    assert {room_of(path.parent.relative_to(BENCHMARKS).as_posix()) for path in files} >= {
        *ROOMS
    } - {""}
    for path in files:
        relative = path.relative_to(BENCHMARKS).as_posix()
        assert list(wrong_imports(relative, path.read_text("utf-8"))) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("harness/memcap.py", "from ..report.units import Unit\n"),
        ("data/patterns.py", "def f():\n    from ..jobs import job_command\n"),
        ("jobs/load_once.py", "from ..cases.parts.loader_ways import Way\n"),
        ("cases/parts/loader_ways.py", "from ..bench_loader import main\n"),
    ],
)
def test_a_wrong_import_is_found(path, text):
    assert len(list(wrong_imports(path, text))) == 1


def test_no_room_is_a_hall():
    for room in (BENCHMARKS, *(path for path in BENCHMARKS.rglob("*") if path.is_dir())):
        assert len(list(room.glob("*.py"))) <= MOST_FILES, room
