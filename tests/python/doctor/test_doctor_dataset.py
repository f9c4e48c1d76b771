"""What the doctor says of a dataset, against counting; tables it reads instead of writing."""

from __future__ import annotations

import json
import os
import re

import numpy as np
import pytest

import graphmount as gm
from graphmount.cli import main
from graphmount.doctor import examine
from graphmount.doctor.dataset_examination import examine_dataset
from graphmount.doctor.estimate import bytes_under_way

QUICK = 0.5
MIB = 1 << 20


@pytest.fixture(scope="module")
def skewed(tmp_path_factory):
    """Datasets of 20,000 nodes of which some are in many lists, hot first and as given."""
    generator = np.random.default_rng(5)
    num_nodes, num_edges = 20_000, 200_000
    src = (generator.random(num_edges) ** 4 * num_nodes).astype(np.int64)
    src = generator.permutation(num_nodes)[src]
    dst = generator.integers(0, num_nodes, num_edges)
    x = np.zeros((num_nodes, 16), np.float32)
    folder = tmp_path_factory.mktemp("skewed")
    for order in ("hot", "given"):
        gm.compile_dataset(
            folder / order,
            edges=(src, dst),
            num_nodes=num_nodes,
            features={"x": x},
            edge_features={"e": np.zeros((num_edges, 2), np.int8)},
            splits={"train": np.arange(0, num_nodes, 4)},
            order=order,
        )
    return folder


def look_at(path, *, usable_bytes=None, seconds=60):
    return examine_dataset(
        gm.Dataset(path), usable_bytes=usable_bytes, seconds=seconds, report=lambda _: None
    )


@pytest.mark.parametrize("order", ["hot", "given"])
def test_dataset_facts_against_counting(skewed, order):
    dataset = gm.Dataset(skewed / order)
    facts = look_at(skewed / order)
    assert (facts.num_nodes, facts.is_hot_first) == (20_000, order == "hot")
    assert [(t.name, t.rows, t.row_bytes, t.dtype, t.of_edges) for t in facts.tables] == [
        ("x", 20_000, 64, "float32", False),
        ("e", 200_000, 2, "int8", True),
    ]
    lists = dataset.graph.neighbor_lists("in")
    assert facts.list_bytes == lists.indptr.nbytes + lists.indices.nbytes
    assert facts.batch.num_seeds == 1024
    # The twin: batches like these, nodes ranked by how often they are in lists.
    appearances = np.bincount(lists.indices, minlength=20_000)
    hottest = np.argsort(-appearances, kind="stable")
    generator = np.random.default_rng(1)
    train = dataset.splits["train"]
    batches = [
        dataset.graph.sample_neighbors(
            train[generator.choice(len(train), 1024, replace=False)], [15, 10, 5]
        )
        for _ in range(8)
    ]
    assert facts.batch.num_nodes == pytest.approx(
        np.mean([len(batch.nodes) for batch in batches]), rel=0.03
    )
    for cached in (0.05, 0.25, 0.5):
        is_hot = np.zeros(20_000, bool)
        is_hot[hottest[: int(cached * 20_000)]] = True
        served = np.mean([is_hot[batch.nodes].mean() for batch in batches])
        assert facts.served_share(cached) == pytest.approx(served, abs=0.03)
        if order == "hot":
            curve = dict(facts.appearances)
            nearest = min(curve, key=lambda share, to=cached: abs(share - to))
            first = lists.indices < round(nearest * 20_000)
            assert curve[nearest] == pytest.approx(first.mean())
    assert facts.served_share(0) == 0
    assert facts.served_share(1) == 1


def test_batches_that_do_not_fit(skewed):
    """Fewer seeds where batches under way would take more than half of the memory, or the time."""
    whole = look_at(skewed / "hot")
    assert (whole.batch.num_seeds, whole.batch.smaller_because) == (1024, None)
    needed = bytes_under_way(whole.batch, 64)
    assert needed > 5 * 64 * whole.batch.num_nodes
    less = look_at(skewed / "hot", usable_bytes=2 * needed - needed // 10)
    assert (less.batch.num_seeds, less.batch.smaller_because) == (256, "memory")
    assert bytes_under_way(less.batch, 64) < needed
    short = look_at(skewed / "hot", seconds=1e-9)
    assert (short.batch.num_seeds, short.batch.smaller_because) == (16, "time")


def test_datasets_that_tell_less(tmp_path):
    edges = ([0, 1, 2], [1, 2, 0])
    gm.compile_dataset(tmp_path / "in", edges=edges, neighbors="in", order="given")
    gm.compile_dataset(tmp_path / "out", edges=edges, neighbors="out", order="given")
    gm.compile_dataset(tmp_path / "none", edges=([], []), num_nodes=0, splits={"train": []})
    for name in ("in", "out"):
        facts = look_at(tmp_path / name)
        assert (facts.batch.num_seeds, facts.batch.smaller_because) == (3, "seeds")
        assert facts.served is None
        assert facts.served_share(0.25) == 0.25
    facts = look_at(tmp_path / "none")
    assert facts.batch is None


def test_command_for_a_dataset(skewed, tmp_path, capsys):
    out = tmp_path / "report.json"
    arguments = ["doctor", "--dataset", str(skewed / "hot"), "--seconds", "0.5", "--json", str(out)]
    assert main(arguments) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    text = captured.out
    for part in (
        "Machine\n",
        "Scattered reads of 4 KiB in a second",
        "io_uring",
        "page faults, mmap",
        "neighbor lists",
        "Advice\n",
        "everything fits",
    ):
        assert part in text
    assert re.search(r"x +20,000 +64 B +float32 +1\.2 MiB", text)
    report = json.loads(out.read_text())
    assert report["dataset"]["batch"]["num_seeds"] in (16, 64, 256, 1024)
    assert report["figures"]["file"] == "a temporary file"
    assert report["disk"]["folder"] == os.path.realpath(skewed / "hot")
    assert report["estimate"]["disk_seconds"] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.json"]


def test_a_large_table_is_read_and_nothing_is_written(tmp_path, monkeypatch):
    from graphmount.doctor import examination

    x = np.random.default_rng(0).random((1 << 15, 64))  # 16 MiB
    gm.compile_dataset(tmp_path / "d", edges=([0], [1]), num_nodes=1 << 15, features={"x": x})
    path = os.path.realpath(tmp_path / "d/features/x.gd")
    monkeypatch.setattr(examination, "_LEAST_TABLE_BYTES", 16 * MIB)
    monkeypatch.setattr(examination, "temporary_probe_file", None)
    report = examine(dataset=tmp_path / "d", seconds=QUICK)
    assert report.figures.file == path
    assert report.figures.write_bytes_per_second is None
    monkeypatch.undo()
    # Who names a folder wants to know about that one.
    monkeypatch.setattr(examination, "_LEAST_TABLE_BYTES", 16 * MIB)
    report = examine(tmp_path, dataset=tmp_path / "d", seconds=QUICK)
    assert report.figures.file == "a temporary file"
    # A file that is mostly holes says nothing about a disk.
    zeros = np.broadcast_to(np.float32(0), (1 << 20, 16))
    gm.compile_dataset(tmp_path / "z", edges=([0], [1]), num_nodes=1 << 20, features={"x": zeros})
    with open(tmp_path / "z/features/x.gd", "r+b") as file:
        size = os.path.getsize(file.name)
        start = file.read(1 << 16)
        file.truncate(0)
        file.seek(0)
        file.write(start)
        file.truncate(size)
    if os.stat(tmp_path / "z/features/x.gd").st_blocks * 512 < size // 2:
        report = examine(dataset=tmp_path / "z", seconds=QUICK)
        assert report.figures.file == "a temporary file"
