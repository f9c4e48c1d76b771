"""The benchmark with the shape of MAG240M: what its generator promises, and a small run."""

import json
import subprocess
import sys

import numpy as np
import pytest
from graphmount.benchmarks.cases.kinds.batch_memory import BatchMemory
from graphmount.benchmarks.data import mag_data
from graphmount.benchmarks.data.mag_data import EDGES, TOPICS, Shape
from run_mode import IS_LONG

SMALL = Shape(0.0005, 0.0005, has_rows=True)
CITES = ("paper", "cites", "paper")


def all_edges(shape, relation):
    return np.concatenate(list(mag_data.edges_of(shape, relation)), axis=1)


def test_shape():
    whole = Shape(1, 1, has_rows=True)
    assert sum(whole.num_nodes.values()) == 244_160_499
    assert sum(whole.num_edges.values()) == 1_728_364_232
    assert whole.row_bytes == 121_751_666 * 768 * 2
    assert Shape(0.05, 0.05, has_rows=True).row_bytes > 8 << 30
    assert Shape(1, 0.05, has_rows=False).row_bytes == 0


@pytest.mark.parametrize("relation", EDGES)
def test_edges_are_as_many_as_said_and_skewed(relation):
    edges = all_edges(SMALL, relation)
    assert edges.shape == (2, SMALL.num_edges[relation])
    assert np.array_equal(edges, all_edges(SMALL, relation))
    for ends, name in zip(edges, (relation[0], relation[2]), strict=True):
        count = SMALL.num_nodes[name]
        assert ends.min() >= 0
        assert ends.max() < count
        degrees = np.sort(np.bincount(ends, minlength=count))[::-1]
        if 100 * TOPICS < 3 * count < len(ends):
            # u ** 3 < 1 / 8 for half of all u: so many ends go to an eighth of the nodes.
            half = degrees[: count // 8].sum() / len(ends)
            assert half == pytest.approx(0.5, rel=0.1)
    within = (edges[0] % TOPICS == edges[1] % TOPICS).mean()
    assert within == pytest.approx(0.4 if relation[1] == "affiliated_with" else 0.8, abs=0.02)


def test_neighbors_tell_more_of_the_label_than_ones_own_row():
    labels = mag_data.labels_of(SMALL)
    assert list(labels[:2]) == [0, 1]
    assert set(labels) == set(range(TOPICS))
    rows = np.concatenate(list(mag_data.rows_of(labels)))
    assert (rows.dtype, rows.shape) == (np.float16, (len(labels), mag_data.COLUMNS))
    rows = rows.astype(np.float32)
    sums = np.zeros((TOPICS, mag_data.COLUMNS))
    np.add.at(sums, labels, rows)
    centers = sums / np.bincount(labels)[:, None]
    src, dst = all_edges(SMALL, CITES)
    some = np.flatnonzero(np.bincount(dst, minlength=len(labels)) >= 15)[:300]
    means = np.stack([rows[src[dst == node]].mean(axis=0) for node in some])

    def accuracy(found):
        return (np.argmax(found @ centers.T, axis=1) == labels[some]).mean()

    alone, with_neighbors = accuracy(rows[some]), accuracy(rows[some] / 4 + means)
    assert 3 / TOPICS < alone < with_neighbors - 0.2


def test_years_and_splits():
    years = mag_data.years_of(SMALL)
    splits = mag_data.splits_of(years)
    assert np.array_equal(years, mag_data.years_of(SMALL))
    assert years.max() == 2020
    assert (years[splits["train"]] <= 2018).all()
    assert (years[splits["valid"]] == 2019).all()
    assert (years[splits["test"]] == 2020).all()
    size = sum(map(len, splits.values()))
    assert size == pytest.approx(0.0115 * len(years), rel=0.2)
    assert len(splits["train"]) > 0.7 * size
    assert min(map(len, splits.values())) > 0.05 * size


def test_streams():
    pytest.importorskip("pyarrow")
    shape = Shape(1e-9, 1e-6, has_rows=True)
    streams = mag_data.Streams()
    for relation, count in shape.num_edges.items():
        assert streams.edges(shape, relation).read_all().num_rows == count
    table = streams.rows(mag_data.labels_of(shape)).read_all()
    assert table.num_rows == TOPICS
    assert streams.seconds > 0


def run_small(name, tmp_path, *options):
    """What a benchmark found, with data that is small."""
    module = f"graphmount.benchmarks.cases.kinds.bench_{name}"
    command = [sys.executable, "-m", module, "--quick", "--folder", str(tmp_path)]
    command += ["--json", str(tmp_path / "found.json"), *options]
    subprocess.run(command, check=True, timeout=300)
    found = json.loads((tmp_path / "found.json").read_text())
    if found["skipped"]:
        pytest.skip(found["skipped"][0]["why"])
    return found


def test_a_small_run(tmp_path):
    pytest.importorskip("pyarrow")
    options = ("--fraction", "0.00005", "--all-nodes", "0.0005", "--keep", str(tmp_path / "kept"))
    found = run_small("kinds_compile", tmp_path, *options)
    checks = [check for check in found["checks"] if check["kind"] == "check"]
    assert len(checks) == 7
    assert all(check["passed"] for check in checks)
    times, space = found["tables"].values()
    assert [row["nodes"] for row in times] == [12_360, 122_221]
    assert all(row["OOM kills"] == 0 for row in space)
    assert (tmp_path / "kept" / "dataset.json").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["found.json", "kept"]


def test_memory_is_promised_by_the_size_of_a_batch():
    one = BatchMemory(dataset=1000, row_file=900, rows=100, sample=10, layers=500)
    assert one.topology == 100
    assert one.batches == int(1.3 * (5 * 100 + 20 * 10))
    assert one.training - one.loader == 650
    assert one.by_hand < one.loader < one.training
    twice = BatchMemory(dataset=1000, row_file=900, rows=200, sample=20, layers=1000)
    assert twice.batches == 2 * one.batches


@pytest.mark.skipif(not IS_LONG, reason="for long campaigns (make test-all): torch under a limit")
def test_a_small_training_run(tmp_path):
    pytest.importorskip("pyarrow")
    pytest.importorskip("torch_geometric")
    found = run_small("kinds_train", tmp_path, "--nodes", "3000", "--fraction", "0.0002")
    checks = [check for check in found["checks"] if check["kind"] == "check"]
    assert len(checks) == 1 + 1 + 2 * 3 + 3 + 2
    assert all(check["passed"] for check in checks)
    one_kind, training, speed = found["tables"].values()
    assert [row["dataset of"] for row in one_kind] == ["one kind", "one type and one relation"]
    assert [(row["model"], row["ended"]) for row in training] == [
        ("GraphSAGE", "fine"),
        ("R-GAT", "fine"),
    ]
    assert [row["way"] for row in speed] == ["loader", "mapped tensor", "mapped tensor, hot first"]
    assert "promised" in found["notes"][0]
    assert [path.name for path in tmp_path.iterdir()] == ["found.json"]
