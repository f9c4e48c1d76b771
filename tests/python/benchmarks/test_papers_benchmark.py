"""The benchmark with the shape of ogbn-papers100M: its streams, and both of its sources."""

import gzip
import json
import subprocess
import sys

import numpy as np
import pytest
from graphmount.benchmarks.data import papers_data
from run_mode import IS_LONG

SMALL = papers_data.Shape(num_nodes=150_001, num_edges=2_100_000, num_train=1000)


def test_shape():
    whole = papers_data.shape_of(1.0)
    assert (whole.num_nodes, whole.num_edges) == (111_059_956, 1_615_685_872)
    assert papers_data.shape_of(0.5).feature_bytes == pytest.approx(
        whole.feature_bytes / 2, rel=1e-6
    )


def test_edges_are_as_many_as_said_and_skewed():
    pieces = list(papers_data.edges_of(SMALL))
    edges = np.concatenate(pieces, axis=1)
    assert len(pieces) > 2
    assert edges.shape == (2, SMALL.num_edges)
    assert edges.min() >= 0
    assert edges.max() < SMALL.num_nodes
    degrees = np.sort(np.bincount(edges[0], minlength=SMALL.num_nodes))[::-1]
    # u ** 3 < 1 / 8 for half of all u: so many ends go to an eighth of the nodes.
    assert degrees[: SMALL.num_nodes // 8].sum() == pytest.approx(SMALL.num_edges / 2, rel=0.1)


def test_rows_tell_their_class():
    labels = papers_data.labels_of(SMALL)
    rows = np.concatenate(list(papers_data.rows_of(labels)))
    assert rows.shape == (SMALL.num_nodes, papers_data.COLUMNS)
    one, other = rows[labels == 0].mean(axis=0), rows[labels == 1].mean(axis=0)
    again = rows[labels == 0][::2].mean(axis=0)
    assert np.linalg.norm(one - again) < np.linalg.norm(one - other) / 3


def test_streams():
    pytest.importorskip("pyarrow")
    shape = papers_data.shape_of(1e-9)
    assert papers_data.edge_stream(shape).read_all().num_rows == shape.num_edges
    table = papers_data.row_stream(papers_data.labels_of(shape)).read_all()
    assert table.num_rows == shape.num_nodes
    train = papers_data.train_nodes(shape)
    assert len(np.unique(train)) == shape.num_train


def ogb_folder(root):
    """As OGB lays the dataset out, with few nodes."""
    generator = np.random.default_rng(0)
    (root / "raw").mkdir(parents=True)
    (root / "split" / "time").mkdir(parents=True)
    np.savez(
        root / "raw" / "data.npz",
        edge_index=generator.integers(0, 300, (2, 2000)),
        node_feat=generator.random((300, 128), np.float32),
        node_year=np.full((300, 1), 2000),
    )
    labels = generator.integers(0, 172, (300, 1)).astype(np.float32)
    labels[100:200] = np.nan
    np.savez(root / "raw" / "node-label.npz", node_label=labels)
    for name, nodes in (
        ("train", range(100)),
        ("valid", range(200, 250)),
        ("test", range(250, 300)),
    ):
        with gzip.open(root / "split" / "time" / f"{name}.csv.gz", "wt") as file:
            file.writelines(f"{node}\n" for node in nodes)
    return root


@pytest.mark.skipif(not IS_LONG, reason="for long campaigns (make test-all): torch under a limit")
@pytest.mark.parametrize("origin", ["stream", "OGB's folder"])
def test_from_end_to_end(origin, tmp_path):
    pytest.importorskip("torch_geometric")
    command = [
        sys.executable,
        "-m",
        "graphmount.benchmarks.cases.bench_papers",
        "--quick",
        "--batches",
        "2",
    ]
    command += ["--folder", str(tmp_path), "--json", str(tmp_path / "out.json"), "--limit", "1G"]
    if origin != "stream":
        command += ["--source", str(ogb_folder(tmp_path / "ogbn_papers100M"))]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    results = json.loads((tmp_path / "out.json").read_text())
    if results["skipped"]:
        pytest.skip(results["skipped"][0]["why"])
    steps, training = results["tables"].values()
    assert [row["step"] for row in steps] == ["compile", "train"]
    assert training[0]["batches"] == 2
    assert all(check["passed"] for check in results["checks"])
