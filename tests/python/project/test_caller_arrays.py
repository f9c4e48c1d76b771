"""Arrays of the caller that another thread changes while calls run: never a crash.

What a call follows is what it has checked, whatever is in the array a moment later. So its results
are those of some ids that were in the array, or it raises IdError or SourceError.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from run_mode import IS_SANITIZED, SUPPORT

import graphmount as gm

BINDINGS = Path(__file__).parents[3] / "bindings"

#: Where the bindings give the core memory of the caller, and why that is safe. Whoever adds one has
#: to say it here: either nothing is looked up by the values, or the core copies or checks them when
#: it looks something up.
SHARED_MEMORY = {
    "base.cpp": {"bytes": "values"},
    "compile.cpp": {
        "src": "checked when used",
        "dst": "checked when used",
        "*weights": "checked when used",
        "*timestamps": "values",
        "new_ids": "checked when used",
        "*fill": "copied with the GIL held",
        "bytes": "values",
    },
    "graph.cpp": {
        "nodes": "checked when used",
        "positions": "checked when used",
        "sources": "checked when used",
        "destinations": "checked when used",
    },
    "ids.cpp": {
        "nodes": "checked when used",
        "keys": "values",
    },
    "loading.cpp": {
        "times": "copied with the GIL held",
        "weights": "copied with the GIL held",
    },
    "sampling.cpp": {
        "nodes": "copied by the core",
        "seeds": "copied by the core",
        "times": "values",
        "kept": "copied by the core where it is followed",
    },
    "parts.cpp": {
        "src": "checked when used",
        "dst": "checked when used",
        "*weights": "checked when used",
        "*timestamps": "values",
        "*rows": "values",
        "*times": "values",
        "column": "copied by the core, and checked then",
    },
    # Spans are bound as they are there (convert/spans.hpp), so that each argument is here.
    "training.cpp": {
        "lists": "checked when used",
        "turned": "checked when used, or written",
        "places": "compared, or written",
        "winners": "compared, or written",
        "means": "checked when used",
        "rows": "values",
        "factors": "values",
        "left": "values",
        "right": "values",
        "gradient": "values",
        "scores": "values",
        "weights": "values",
        "bias": "values, or written",
        "of_first": "values",
        "parts": "values, or written",
        "owners": "written",
        "new_starts": "written",
        "new_others": "written",
        "out": "written",
        "shape": "a number",
        "columns": "a number",
        "heads": "a number",
        "outputs": "a number",
        "inputs": "a number",
        "mean": "a bool",
        "relu": "a bool",
    },
    "table.cpp": {
        "ids": "checked when used",
        "bytes": "an address range for madvise, or values",
    },
}

SCRIPT = SUPPORT / "changing_arrays.py"


@pytest.mark.skipif(IS_SANITIZED, reason="the race is the test, and would be reported")
def test_no_call_crashes(tmp_path, campaign):
    """On the code before, most of these calls ended by SIGSEGV within a few rounds."""
    generator = np.random.default_rng(0)
    gm.compile_graph(
        generator.integers(0, 5_000, (2, 50_000)),
        tmp_path / "g.gl",
        num_nodes=5_000,
        node_ids=np.arange(5_000) * 3,
    )
    gm.compile_features(np.zeros((5_000, 16), np.float32), tmp_path / "x.gd")
    found = subprocess.run(
        [sys.executable, SCRIPT, str(campaign(20, 500))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert found.returncode == 0, f"{found.returncode}: {found.stdout[-100:]}{found.stderr[-2000:]}"
    assert "rows" in found.stdout


def test_bindings_share_memory_only_where_it_is_known_to_be_safe():
    found = {}
    for path in sorted(BINDINGS.glob("*.cpp")):
        text = path.read_text()
        names = set(re.findall(r"\bto_span\((\*?\w+)\)", text))
        if "convert/spans.hpp" in text:
            names |= set(re.findall(r'"(\w+)"_a', text))
        if names:
            found[path.name] = names
    assert found == {name: set(reasons) for name, reasons in SHARED_MEMORY.items()}
    # No other way to the memory of an array than these, `Copied` and what writes results.
    assert [
        (path.name, line.strip())
        for path in sorted(BINDINGS.glob("*.cpp"))
        for line in path.read_text().splitlines()
        if re.search(r"\b(ids|nodes|starts|seeds|keys|rows|destinations)\.data\(\)", line)
    ] == []
