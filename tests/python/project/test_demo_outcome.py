"""What the demo says of a process that was killed, or that failed: it left half of its files."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "examples"

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="no examples here (not a clone)")

MOMENT = {"seconds": 1.5, "stage": "loading", "batches": 3, "process_bytes": 9 << 20}


@pytest.fixture
def outcomes(monkeypatch):
    """The module, which imports its neighbors as a script does."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.delitem(sys.modules, "demo_record", raising=False)
    spec = importlib.util.spec_from_file_location("demo_outcome", FOLDER / "demo_outcome.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "demo_outcome", module)
    spec.loader.exec_module(module)
    return module


def shown(table, outcomes):
    from rich.console import Console

    console = Console(width=140)
    with console.capture() as captured:
        console.print(outcomes.table_of(table, heading="heading", epoch_batches=10))
    return captured.get()


def test_a_killed_process(outcomes, tmp_path):
    line = json.dumps(MOMENT | {"cached_bytes": 0})
    (tmp_path / "memory.jsonl").write_text(f"{line}\n{line[:20]}")  # the kill cut the last one
    outcome = outcomes.read_outcome(tmp_path, "memory", "PyG", status=137, seconds=3.9)
    assert outcome.was_killed
    assert outcome.batches == 3
    assert outcome.headline == "killed after 2 s,\nwhile loading"
    text = shown([outcome], outcomes)
    assert "killed after 2 s, while loading" in text
    assert "never" in text
    assert "9 MiB" in text


def test_a_process_that_was_killed_at_once(outcomes, tmp_path):
    outcome = outcomes.read_outcome(tmp_path, "memory", "PyG", status=137, seconds=0.2)
    assert outcome.headline == "killed after 0 s,\nwhile starting"


def test_a_process_that_trained(outcomes, tmp_path):
    result = {"batches": 20, "seconds": 4.0, "accuracy": {"GraphSAGE": 0.5}}
    (tmp_path / "graphmount.json").write_text(json.dumps(result))
    outcome = outcomes.read_outcome(tmp_path, "graphmount", "graphmount", status=0, seconds=9)
    text = shown([outcome], outcomes)
    for part in ("trained on 20 batches in 4 s", "5.00", "2 s", "50.0%"):
        assert part in text


def test_a_process_that_failed(outcomes, tmp_path):
    with pytest.raises(RuntimeError, match="PyG ended with status 1"):
        outcomes.read_outcome(tmp_path, "memory", "PyG", status=1, seconds=1)
