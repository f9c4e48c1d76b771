"""The table of PyG's own tests in docs/design/pyg.md names tests of ours: each of them exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_every_test_that_is_named_exists():
    table = (ROOT / "docs/design/pyg.md").read_text("utf-8")
    named = re.findall(r"`(test_\w+\.py)::(test_\w+)`", table)
    assert len(named) > 40
    files = {path.name: path for path in (ROOT / "tests/python").rglob("test_*.py")}
    wrong = [
        (file, test)
        for file, test in named
        if file not in files or f"def {test}(" not in files[file].read_text("utf-8")
    ]
    assert wrong == []
