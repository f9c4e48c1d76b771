"""A process is killed in an epoch: it leaves nothing behind, and the next one goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from dataset_kinds import kind_of
from forked_loaders import make_loader
from run_mode import SUPPORT

import graphmount as gm

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /dev/shm")

LOOP = """
import json, sys
import graphmount as gm
from dataset_kinds import kind_of
from forked_loaders import make_loader
dataset = gm.Dataset(sys.argv[1])
digest = kind_of(dataset).digest
loader = make_loader(dataset, sys.argv[2], 5)
for batch in loader:
    said = {"digest": digest(batch), "inputs": batch.input_ids.tolist()}
    print(json.dumps({**said, "state": loader.state_dict()}), flush=True)
sys.stdin.read()  # killed at the latest here
"""


def whatever_is_there(*folders):
    """All files in these folders, with when they were written."""
    return {
        str(path): path.stat().st_mtime_ns
        for folder in folders
        for path in Path(folder).rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("reading", ["window", "sweep"])
def test_killed_in_the_middle_of_an_epoch(reading, any_folder, tmp_path, campaign):
    folder = any_folder / "hot"
    shared = set(os.listdir("/dev/shm"))  # noqa: S108  (to see that nothing is added)
    before = whatever_is_there(folder, tmp_path)
    dataset = gm.Dataset(folder)
    digest = kind_of(dataset).digest
    wanted = [digest(batch) for batch in make_loader(dataset, reading, 5)]
    for num_taken in campaign((3,), range(1, len(wanted) + 1)):
        with subprocess.Popen(
            [sys.executable, "-c", LOOP, folder, reading],
            cwd=tmp_path,
            env=os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": str(SUPPORT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as process:
            taken = [json.loads(process.stdout.readline()) for _ in range(num_taken)]
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
        assert whatever_is_there(folder, tmp_path) == before
        loader = make_loader(dataset, reading, 5)
        loader.load_state_dict(taken[-1]["state"])
        rest = list(loader)
        found = [said["digest"] for said in taken] + [digest(batch) for batch in rest]
        assert found == wanted
        inputs = [place for said in taken for place in said["inputs"]]
        inputs += [place for batch in rest for place in batch.input_ids.tolist()]
        assert sorted(inputs) == list(range(400))
    added = set(os.listdir("/dev/shm")) - shared  # noqa: S108
    assert not [name for name in added if "graphmount" in name]
    assert not gm.verify(folder).problems
