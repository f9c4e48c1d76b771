"""Which node comes first: by appearances in the lists that sampling reads, or by scores."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from dataset_folders import without_list

import graphmount as gm
from graphmount._compile.edges.intake import EdgeIntake


def asymmetric():
    """Node 0 is in everybody's list, and everybody is in the list of node 1."""
    others = np.arange(2, 50)
    src = np.concatenate([np.zeros(48, int), others, [7, 7]])
    dst = np.concatenate([others, np.ones(48, int), [8, 9]])
    return src, dst


def hot_nodes(folder, **options):
    gm.compile_dataset(folder, edges=asymmetric(), overwrite=True, **options)
    return gm.Dataset(folder).to_external(range(50)).tolist()


def test_hot_nodes_are_those_with_many_edges_out(tmp_path):
    """Sampling reads lists of incoming neighbors, and there the source of an edge appears."""
    rest = sorted(set(range(2, 50)) - {7})
    assert hot_nodes(tmp_path / "ds") == [0, 7, *rest, 1]
    assert hot_nodes(tmp_path / "ds", neighbors="in") == [0, 7, *rest, 1]
    # Where only the out-lists are kept, the destinations of edges appear in them.
    assert hot_nodes(tmp_path / "ds", neighbors="out")[:3] == [1, 8, 9]
    undirected = hot_nodes(tmp_path / "ds", directed=False)
    assert undirected[:5] == [0, 1, 7, 8, 9]


def test_hot_lists_and_rows_lie_together(tmp_path):
    hot_nodes(tmp_path / "ds", features={"x": np.arange(50.0)})
    ds = gm.Dataset(tmp_path / "ds")
    appearances = np.bincount(ds.graph.neighbor_lists("in").indices, minlength=50)
    assert (np.diff(appearances) <= 0).all()
    assert ds.features["x"].numpy()[:2].tolist() == [0, 7]


def test_ties_by_number_in_a_large_graph(tmp_path):
    generator = np.random.default_rng(3)
    src = (generator.random(200_000) ** 4 * 30_000).astype(np.int64)
    dst = generator.integers(0, 30_000, 200_000)
    gm.compile_dataset(tmp_path / "ds", edges=(src, dst), num_nodes=30_001, memory="64MiB")
    counts = np.bincount(src, minlength=30_001)
    expected = np.lexsort((np.arange(30_001), -counts))
    ds = gm.Dataset(tmp_path / "ds")
    assert (ds.to_external(range(30_001)) == expected).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.uint64])
def test_scores(dtype, tmp_path):
    scores = np.array([3, 9, 9, 0, 4], dtype)
    gm.compile_dataset(tmp_path / "ds", edges=([0], [1]), num_nodes=5, order=scores)
    ds = gm.Dataset(tmp_path / "ds")
    assert ds.to_external(range(5)).tolist() == [1, 2, 4, 0, 3]
    assert ds.description["order"] == "scores"


def test_scores_of_expected_access(tmp_path):
    src, dst = asymmetric()
    gm.compile_graph((src, dst), tmp_path / "g.gl")
    scores = gm.expected_access(tmp_path / "g.gl", [9], [10], batch_size=1)
    assert hot_nodes(tmp_path / "ds", order=scores)[:3] == [0, 7, 9]


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("cold", "order='cold'; choose one of 'hot', 'given'"),
        ([1, 2], r"one number for each of the 3 nodes, not an array of shape \(2,\)"),
        ([[1, 2, 3]], r"of shape \(1, 3\)"),
        (["a", "b", "c"], "dtype <U1"),
        ([True, False, True], "dtype bool"),
        ([1, np.nan, 2], "NaN for node 1"),
    ],
)
def test_wrong_orders(order, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        gm.compile_dataset(tmp_path / "ds", edges=([0, 1], [1, 2]), order=order)
    assert list(tmp_path.iterdir()) == []


def test_budget(tmp_path, monkeypatch):
    """Ordering takes 8 bytes for each node, which may be half of the budget; scores take more."""
    edges = ([0], [1])
    for order, num_nodes, needed in (("hot", 5_000_000, 8), ("scores", 2_000_000, 28)):
        scores = np.zeros(num_nodes) if order == "scores" else order
        options = {"edges": edges, "num_nodes": num_nodes, "order": scores}
        with monkeypatch.context() as patch:
            patch.delattr(EdgeIntake, "read")  # it is said before
            message = f"ordering {num_nodes:,} nodes takes"
            with pytest.raises(gm.errors.BudgetError, match=message) as e:
                gm.compile_dataset(tmp_path / "ds", **options, memory="64MiB")
        advised = 2 * needed * num_nodes
        assert f"pass memory={advised} or more, or order='given'" in str(e.value)
        assert list(tmp_path.iterdir()) == []
        gm.compile_dataset(tmp_path / "ds", **options, memory=advised)
        options["order"] = "given"
        gm.compile_dataset(tmp_path / "ds", **options, memory="64MiB", overwrite=True)
        shutil.rmtree(tmp_path / "ds")


def test_one_fingerprint(tmp_path):
    x = np.arange(50.0)
    hot_nodes(tmp_path / "ds", features={"x": x, "y": gm.Table(source=x, key=range(50))}, labels=x)
    ds = gm.Dataset(tmp_path / "ds")
    tables = [*ds.features.values(), gm.FeatureStore(tmp_path / "ds" / "labels.gd")]
    assert ds.graph.order != 0
    assert {table.order for table in tables} == {ds.graph.order}


def test_files_of_two_datasets(tmp_path):
    """Of the same source in two orders, which nothing but the fingerprint tells apart."""
    x = np.arange(50.0)
    hot_nodes(tmp_path / "hot", features={"x": x}, labels=x)
    hot_nodes(tmp_path / "other", features={"x": x}, labels=x, order=x)
    hot_nodes(tmp_path / "given", features={"x": x}, labels=x, order="given")
    stores = [gm.Dataset(tmp_path / name).features["x"] for name in ("hot", "other", "given")]
    assert len({store.order for store in stores}) == 3
    with pytest.raises(gm.errors.OrderError, match="number their nodes in different orders"):
        gm.check_order(gm.Dataset(tmp_path / "hot").graph, stores[1])
    for name in ("other", "given"):
        for file in ("features/x.gd", "labels.gd"):
            shutil.copytree(tmp_path / "hot", tmp_path / "mixed")
            shutil.copy(tmp_path / name / file, tmp_path / "mixed" / file)
            with pytest.raises(gm.errors.DatasetChangedError, match="is not the file that"):
                gm.Dataset(tmp_path / "mixed")
            without_list(tmp_path / "mixed")
            with pytest.raises(gm.errors.OrderError, match="in different orders"):
                gm.Dataset(tmp_path / "mixed")
            shutil.rmtree(tmp_path / "mixed")


def test_graph_of_another_dataset(tmp_path):
    hot_nodes(tmp_path / "ds")
    gm.compile_graph(([0], [1]), tmp_path / "ds" / "graph.gl")
    with pytest.raises(gm.errors.DatasetChangedError, match=r"graph\.gl is not the file that"):
        gm.Dataset(tmp_path / "ds")
    without_list(tmp_path / "ds")
    with pytest.raises(gm.errors.FormatError, match=r"has 2 nodes and 1 edges, but dataset.json"):
        gm.Dataset(tmp_path / "ds")


@pytest.mark.parametrize("has_list", [True, False])
@pytest.mark.parametrize(
    ("kind", "rows", "message"),
    [
        ("features", [1.0] * 49, "x.gd has 49 rows"),
        ("edge_features", [1.0] * 3, "x.gd has 3 rows, but .* edges"),
        ("splits", [[0]], r"is no split: 'x' has the shape \(1, 1\)"),
        ("splits", [0.5], "is no split: 'x' has the shape .* and dtype float64"),
    ],
)
def test_tables_that_are_not_of_the_id_space(kind, rows, message, has_list, tmp_path):
    """Which is found when the dataset is opened, by whoever put the table there."""
    folder = tmp_path / "ds"
    hot_nodes(folder)
    gm.Dataset(folder)
    (folder / kind).mkdir(exist_ok=True)
    gm.compile_features(rows, folder / kind / "x.gd")
    description = json.loads((folder / "dataset.json").read_text())
    description[kind]["x"] = f"{kind}/x.gd"
    entry = {"bytes": (folder / kind / "x.gd").stat().st_size}
    entry["checksum"] = (folder / kind / "x.gd").read_bytes()[4088:4096][::-1].hex()
    description["files"][f"{kind}/x.gd"] = entry
    (folder / "dataset.json").write_text(json.dumps(description))
    if not has_list:
        without_list(folder)
    with pytest.raises((gm.errors.OrderError, gm.errors.FormatError), match=message):
        gm.Dataset(folder)
    found = gm.verify(folder)
    assert [(problem.file, problem.section) for problem in found.problems] == [
        (f"{kind}/x.gd", "header")
    ]
    assert gm.verify(folder / kind / "x.gd").ok
