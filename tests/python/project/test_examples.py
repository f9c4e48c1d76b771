"""The examples run on small data, and do what they say: floors that chance does not reach."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from run_mode import IS_LONG, IS_SANITIZED

FOLDER = Path(__file__).parents[3] / "examples"

pytestmark = [
    pytest.mark.skipif(not FOLDER.exists(), reason="no examples here (not a clone)"),
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
    pytest.mark.skipif(IS_SANITIZED, reason="takes too long under a sanitizer"),
]


# One process runs a script once for each line of options, since importing torch takes long.
RUN_EACH = """
import json, runpy, sys
script, *lines = sys.argv[1:]
for line in lines:
    sys.argv = [script, *json.loads(line)]
    runpy.run_path(script, run_name="__main__")
    print("END OF RUN")
"""


def start(*command):
    # One thread each: on small data, threads of torch wait for each other where cores are busy.
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(FOLDER)}
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run(script, folder, *options, launcher=()):
    return start(*launcher, str(FOLDER / script), str(folder), *options)


def run_each(script, folder, *lines):
    """Runs a script in one process with each line of options; returns what each run printed."""
    arguments = [
        json.dumps([str(folder / str(number)), *line.split()]) for number, line in enumerate(lines)
    ]
    texts = start("-c", RUN_EACH, str(FOLDER / script), *arguments).split("END OF RUN\n")
    assert texts.pop() == ""
    assert len(texts) == len(lines)
    return texts


def score(text, name):
    """The accuracy that an example prints for something."""
    return float(re.search(rf"{re.escape(name)}\D*([0-9.]+)", text)[1])


def test_every_example_is_listed():
    page = (FOLDER.parent / "docs/examples.md").read_text(encoding="utf-8")
    for script in FOLDER.glob("*.py"):
        assert f"`{script.name}`" in page, script.name


def test_train_torch(tmp_path):
    text = run("train_torch.py", tmp_path)
    assert score(text, "accuracy of GraphSAGE:") > 0.6
    assert score(text, "accuracy of features alone:") < 0.4
    assert "epoch 4" in text
    assert "batches in" in text


def test_train_pyg(tmp_path):
    pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
    models = ("GraphSAGE", "GCN", "GAT")
    runs = [(model, layers) for model in models for layers in ("graphmount", "pyg")]
    options = (f"--model {model} --layers {layers}" for model, layers in runs)
    texts = run_each("train_pyg.py", tmp_path, *options)
    for (model, _), text in zip(runs, texts, strict=True):
        assert score(text, f"accuracy of {model}:") > 0.55


def test_train_hetero(tmp_path):
    pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
    models = ("GraphSAGE", "R-GAT")
    texts = run_each("train_hetero.py", tmp_path, *(f"--model {model}" for model in models))
    for model, text in zip(models, texts, strict=True):
        assert score(text, f"accuracy of {model}:") > 0.6  # of rows alone: 0.36
        assert score(text, "papers:") > 0.6


def test_link_prediction(tmp_path):
    text = run("link_prediction.py", tmp_path)
    assert score(text, "untrained:") < 0.6
    assert score(text, "has not seen:") > 0.68


def test_node2vec(tmp_path):
    options = (f"--nodes 2000 --workers {workers}" for workers in (0, 2))
    for text in run_each("node2vec.py", tmp_path, *options):
        assert score(text, "accuracy of embeddings:") > 0.5
        assert score(text, "accuracy of random ones:") < 0.25


def test_train_ddp(tmp_path):
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")
    text = run("train_ddp.py", tmp_path, launcher=launcher)
    assert score(text, "2 ranks, accuracy") > 0.6
    assert "largest difference of parameters between ranks: 0.0\n" in text
    # 1,500 seeds for two ranks, in batches of 64.
    assert "epoch 4: 12 batches on each rank" in text


@pytest.mark.skipif(not IS_LONG, reason="starts a cluster of Ray: with GRAPHMOUNT_LONG")
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed")
def test_train_ray(tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # else a file is made in the home of the user
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    assert score(run("train_ray.py", tmp_path), "accuracy") > 0.6


def test_demo(tmp_path):
    options = ("--nodes", "20000", "--columns", "32", "--train-nodes", "5000", "--epochs", "4")
    text = run("demo.py", tmp_path, *options, "--seconds", "1")
    assert score(text, "accuracy of GraphSAGE on the validation split:") > 50
    assert score(text, "accuracy of features alone on the validation split:") < 40
    ways = ["mapped", "graphmount"]
    if "No limit of memory can be set here" not in text:
        ways.append("memory")  # all of this small graph fits
    for way in ways:
        assert json.loads((tmp_path / f"{way}.json").read_text())["batches"] > 0
    _, _, table = text.partition("side by side")
    assert table.count("trained on") == len(ways)
    if importlib.util.find_spec("matplotlib") is None:
        assert "no picture without matplotlib" in text
    else:
        assert (tmp_path / "demo.png").read_bytes()[:4] == b"\x89PNG"


def test_communities(tmp_path):
    text = run("communities.py", tmp_path, "--nodes", "1000")
    assert "'train': 300" in text
    assert not list(tmp_path.glob("*.npy")), "the source is still there"
