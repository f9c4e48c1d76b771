"""`graphmount.graphzero`: graphzero's interface, compared with graphzero and with plain lists."""

from __future__ import annotations

import inspect
import os
import pickle
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from chi_squared import p_value
from graphzero_process import ask_graphzero
from hypothesis import given
from hypothesis import strategies as st

import graphmount as gm
import graphmount.graphzero as gz
from graphmount.errors import IdError, SourceError
from graphmount.graphzero import original_files

ROOT = Path(__file__).parents[3]
EDGES = "src,dst,weight\n0,5,0.5\n0,3,2\n0,1,1\n1,2,1\n2,0,3\n3,0,1\n3,1,1\n0,5,4\n"
FEATURES = "node,a,b\n2,5,6\n0,1.5,2\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "edges.csv").write_text(EDGES)
    (tmp_path / "plain.csv").write_text(re.sub(r",[^,\n]+$", "", EDGES, flags=re.MULTILINE))
    (tmp_path / "x.csv").write_text(FEATURES)
    return tmp_path


def converted(folder, table="edges.csv", **options):
    gz.convert_csv_to_gl(str(folder / table), str(folder / "g.gl"), **options)
    return gz.Graph(str(folder / "g.gl"))


def described(g, fs, nodes):
    """What both answer alike. This runs here with ours, and in another process with theirs."""
    arrays = [
        g.get_neighbours(0),
        g.get_neighbours(4),
        fs.get_tensor(),
        fs.get_data(1),
        g.batch_random_walk(start_nodes=nodes, walk_length=5, p=0.5, q=2.0),
        g.batch_random_walk(nodes, 1),
        g.batch_random_walk_uniform(start_nodes=nodes, walk_length=5),
        g.batch_random_walk_uniform([0], 0),
        g.batch_random_fanout(start_nodes=nodes, K=3),
        g.batch_random_fanout([], 3),
        g.batch_random_fanout([0], 0),
        g.sample_neighbours(start_node=0, K=2),
        g.sample_neighbours(4, 2),
    ]
    return {
        "counts": [g.num_nodes, g.num_edges, g.has_weights, fs.num_nodes, fs.feature_dim],
        "degrees": [g.get_degree(node_id=node) for node in range(g.num_nodes)],
        "neighbours": [sorted(g.get_neighbours(node_id=i).tolist()) for i in range(g.num_nodes)],
        "rows": [fs.get_data(node_id=node).tolist() for node in range(fs.num_nodes)],
        "matrix": fs.get_tensor().tolist(),
        "whole sample": sorted(g.sample_neighbours(start_node=0, K=9).tolist()),
        "starts": g.batch_random_walk(nodes, 2)[:, 0].tolist(),
        "arrays": [[list(a.shape), str(a.dtype), bool(a.flags.writeable)] for a in arrays],
    }


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("dtype", ["INT64", "FLOAT32", "FLOAT64", "INT32"])
def test_same_answers_shapes_and_dtypes(directed, dtype, folder):
    if dtype.startswith("INT"):
        # Without a header, on which the original crashes where values are INT64.
        (folder / "x.csv").write_text("2,5,6\n0,1,2\n")
    code = """
folder, is_directed, dtype = sys.argv[1:]
gz.convert_csv_to_gl(csv_path=folder + "/edges.csv", out_path=folder + "/theirs.gl",
                     directed=is_directed == "True")
gz.convert_csv_to_gd(csv_path=folder + "/x.csv", out_path=folder + "/theirs.gd",
                     dtype=getattr(gz.DataType, dtype))
g, fs = gz.Graph(filename=folder + "/theirs.gl"), gz.FeatureStore(filename=folder + "/theirs.gd")
answer = described(g, fs, np.array([0, 1, 4, 0], np.uint64))
"""
    theirs = ask_graphzero(inspect.getsource(described) + code, folder, directed, dtype)
    graph = converted(folder, directed=directed)
    gz.convert_csv_to_gd(str(folder / "x.csv"), str(folder / "x.gd"), dtype=gz.DataType[dtype])
    store = gz.FeatureStore(filename=str(folder / "x.gd"))
    assert described(graph, store, np.array([0, 1, 4, 0], np.uint64)) == theirs
    lists = [list(zip(*pair, strict=True)) for pair in weighted_lists(graph)]
    asked = ask_graphzero(
        "g = gz.Graph(sys.argv[1])\n"
        "answer = [sorted(zip(g.get_neighbours(i).tolist(), g.get_weights(i).tolist()))"
        " for i in range(g.num_nodes)]",
        folder / "theirs.gl",
    )
    assert [sorted(map(list, entries)) for entries in lists] == asked


def weighted_lists(graph):
    return [
        (graph.get_neighbours(node).tolist(), graph.get_weights(node).tolist())
        for node in range(graph.num_nodes)
    ]


def test_same_names():
    theirs = ask_graphzero(
        "def names(owner): return sorted(name for name in dir(owner) if name[0] != '_')\n"
        "answer = {'version': gz.__version__, 'module': sorted(gz.__all__),"
        "'dtypes': {d.name: d.value for d in gz.DataType},"
        "'classes': {c.__name__: names(c) for c in (gz.Graph, gz.FeatureStore)}}"
    )
    assert gz.__version__ == theirs["version"]
    assert sorted(gz.__all__) == theirs["module"]
    assert {dtype.name: dtype.value for dtype in gz.DataType} == theirs["dtypes"]
    for kind in (gz.Graph, gz.FeatureStore):
        ours = {name for name in dir(kind) if not name.startswith("_")}
        assert ours - {"mounted"} == set(theirs["classes"][kind.__name__])


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (gz.Graph, ["filename"]),
        (gz.FeatureStore, ["filename"]),
        (gz.convert_csv_to_gl, ["csv_path", "out_path", "directed"]),
        (gz.convert_csv_to_gd, ["csv_path", "out_path", "dtype"]),
        (gz.Graph.batch_random_walk, ["self", "start_nodes", "walk_length", "p", "q"]),
        (gz.Graph.batch_random_walk_uniform, ["self", "start_nodes", "walk_length"]),
        (gz.Graph.batch_random_fanout, ["self", "start_nodes", "K"]),
        (gz.Graph.sample_neighbours, ["self", "start_node", "K"]),
        (gz.Graph.get_neighbours, ["self", "node_id"]),
        (gz.Graph.get_degree, ["self", "node_id"]),
        (gz.Graph.get_weights, ["self", "node_id"]),
        (gz.FeatureStore.get_data, ["self", "node_id"]),
        (gz.FeatureStore.get_tensor, ["self"]),
    ],
)
def test_argument_names(function, names):
    assert list(inspect.signature(function).parameters) == names


def test_example_runs_with_both(tmp_path):
    pytest.importorskip("torch", reason="torch is not installed")
    text = (ROOT / "examples/graphzero_script.py").read_text()
    line = "import graphmount.graphzero as gz\n"
    assert text.count(line) == 1
    printed = {}
    for name, program in {
        "ours": text,
        "theirs": text.replace(line, "import graphzero as gz\n"),
    }.items():
        if name == "theirs":
            pytest.importorskip("graphzero", reason="graphzero is not installed")
        script = tmp_path / f"{name}.py"
        script.write_text(program)
        done = subprocess.run(
            [sys.executable, script, tmp_path / name],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},  # threads would wait for each other
        )
        # The original reports on its converting before the script prints anything itself.
        printed[name] = done.stdout[done.stdout.index("graph: 400") :]
    assert printed["ours"] == printed["theirs"]
    assert "more than nine of ten are right: True" in printed["ours"]


@pytest.mark.parametrize("weighted", [True, False])
def test_files_of_graphzero(weighted, folder):
    table = "edges.csv" if weighted else "plain.csv"
    ask_graphzero(
        "folder, table = sys.argv[1:]\n"
        "gz.convert_csv_to_gl(folder + '/' + table, folder + '/old.gl', True)\n"
        "gz.convert_csv_to_gd(folder + '/x.csv', folder + '/old.gd', gz.DataType.FLOAT64)\n"
        "answer = None",
        folder,
        table,
    )
    with pytest.warns(
        UserWarning, match=r"old\.gl is a file of graphzero; a copy .*old\.graphmount\.gl"
    ):
        graph = gz.Graph(folder / "old.gl")
    with pytest.warns(UserWarning, match=r"old\.graphmount\.gd"):
        store = gz.FeatureStore(folder / "old.gd")
    expected = converted(folder, table, directed=True)
    assert graph.has_weights == weighted
    for node in range(graph.num_nodes):
        assert graph.get_neighbours(node).tolist() == expected.get_neighbours(node).tolist()
        if weighted:
            assert sorted(graph.get_weights(node)) == sorted(expected.get_weights(node))
    assert store.get_tensor().tolist() == [[1.5, 2], [0, 0], [5, 6]]
    assert store.get_tensor().dtype == np.float64
    # The second time it is just opened; one that was replaced is copied again.
    copied = os.stat(folder / "old.graphmount.gl").st_ino
    assert gz.Graph(folder / "old.gl").num_edges == graph.num_edges
    assert os.stat(folder / "old.graphmount.gl").st_ino == copied
    os.utime(folder / "old.gl", ns=(10**18, 10**18))
    with pytest.warns(UserWarning, match="a copy"):
        gz.Graph(folder / "old.gl")
    assert os.stat(folder / "old.graphmount.gl").st_ino != copied


def test_files_of_graphzero_where_nothing_can_be_written(folder, monkeypatch):
    ask_graphzero(
        "gz.convert_csv_to_gl(sys.argv[1] + '/plain.csv', sys.argv[1] + '/old.gl', True)\n"
        "answer = None",
        folder,
    )

    def refuse(*_, **__):
        raise PermissionError("no")

    monkeypatch.setattr(original_files, "compile_graph", refuse)  # root may write everywhere
    with pytest.raises(RuntimeError, match=r"write one elsewhere with graphmount\.compile_graph"):
        gz.Graph(folder / "old.gl")


# What the original gets wrong.


@given(
    edges=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=40),
    k=st.integers(0, 12),
    directed=st.booleans(),
)
def test_every_entry_is_a_neighbour(edges, k, directed, tmp_path):
    (tmp_path / "e.csv").write_text("".join(f"{src},{dst}\n" for src, dst in edges))
    graph = converted(tmp_path, "e.csv", directed=directed)
    lists = [Counter() for _ in range(graph.num_nodes)]
    for src, dst in edges:
        lists[src][dst] += 1
        if not directed and src != dst:
            lists[dst][src] += 1
    nodes = np.arange(graph.num_nodes)
    for node, row in zip(nodes, graph.batch_random_fanout(nodes, k), strict=True):
        wanted = lists[node] or Counter([node])
        assert set(row.tolist()) <= set(wanted)
        if k >= wanted.total():
            assert set(row.tolist()) == set(wanted) or k == 0
        sample = Counter(graph.sample_neighbours(node, k).tolist())
        assert sample.total() == min(k, lists[node].total())
        assert sample <= lists[node]
    for walks in (
        graph.batch_random_walk_uniform(nodes, k),
        graph.batch_random_walk(nodes, k, p=0.5, q=2.0),
    ):
        assert walks.shape == (graph.num_nodes, k + 1)
        assert walks[:, 0].tolist() == nodes.tolist()
        for before, after in zip(walks[:, :-1].ravel(), walks[:, 1:].ravel(), strict=True):
            assert lists[before][after] or (before == after and not lists[before])


def test_walks_by_weight_and_uniform_ones(folder):
    graph = converted(folder, directed=True)  # 0 leads to 1, 3, 5, 5 by weights 1, 2, .5, 4
    starts = np.zeros(20_000, np.int64)
    by_weight = graph.batch_random_walk(starts, 1)[:, 1]
    uniform = graph.batch_random_walk_uniform(starts, 1)[:, 1]
    for drawn, shares in ((by_weight, (1, 2, 4.5)), (uniform, (1, 1, 2))):
        counts = [np.count_nonzero(drawn == node) for node in (1, 3, 5)]
        expected = np.array(shares) / sum(shares) * len(starts)
        assert p_value(counts, expected) > 1e-6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,1\nfoo,bar\n", r"edges\.csv.*line 2"),
        ("0,1,0.5\n1,2\n", r"edges\.csv.*line 2"),
        ("0,1\n-1,2\n", r"edges\.csv.*line 2"),
        ("src,dst\n", r"edges\.csv: there are no edges in it"),
    ],
)
def test_wrong_lines_are_errors(text, message, folder):
    (folder / "edges.csv").write_text(text)
    with pytest.raises(RuntimeError, match=message) as caught:
        converted(folder)
    assert isinstance(caught.value.__cause__, SourceError)
    assert not (folder / "g.gl").exists()


@pytest.mark.parametrize("text", ["0,1,2\n1,3\n", "0,1,x\n", "0,1.5\n", "0,1\n1,99999999999\n"])
def test_wrong_features_are_errors(text, folder):
    (folder / "x.csv").write_text(text)
    with pytest.raises(RuntimeError, match=r"x\.csv"):
        gz.convert_csv_to_gd(folder / "x.csv", folder / "x.gd", gz.DataType.INT32)
    with pytest.raises(TypeError, match=r"dtype must be one of DataType\.INT32, .*not 'float32'"):
        gz.convert_csv_to_gd(folder / "x.csv", folder / "x.gd", "float32")


def test_rows_in_any_order_and_several_for_a_node(folder):
    (folder / "x.csv").write_text("3,1\n0,2\n3,4\n")
    gz.convert_csv_to_gd(folder / "x.csv", folder / "x.gd", gz.DataType.INT64)
    assert gz.FeatureStore(folder / "x.gd").get_tensor().tolist() == [[2], [0], [0], [4]]


def test_nodes_that_do_not_exist(folder):
    graph = converted(folder)
    for call in (
        graph.get_degree,
        graph.get_neighbours,
        graph.get_weights,
        lambda node: graph.sample_neighbours(node, 2),
        lambda node: graph.batch_random_fanout([0, node], 2),
        lambda node: graph.batch_random_walk([0, node], 2),
        lambda node: graph.batch_random_walk_uniform([0, node], 2),
    ):
        for node in (-1, graph.num_nodes, 2**62):
            with pytest.raises(RuntimeError, match=str(node)) as caught:
                call(node)
            assert isinstance(caught.value.__cause__, IdError)
    gz.convert_csv_to_gd(folder / "x.csv", folder / "x.gd", gz.DataType.FLOAT32)
    store = gz.FeatureStore(folder / "x.gd")
    for node in (-1, 3):
        with pytest.raises(RuntimeError, match=f"node {node} has no row: there are 3"):
            store.get_data(node)


def test_other_errors(folder):
    for kind, name in ((gz.Graph, "none.gl"), (gz.FeatureStore, "none.gd")):
        with pytest.raises(RuntimeError, match=name):
            kind(folder / name)
        with pytest.raises(RuntimeError, match=r"x\.csv"):
            kind(folder / "x.csv")
    with pytest.raises(RuntimeError, match=r"none\.csv"):
        converted(folder, "none.csv")
    with pytest.raises(ValueError, match="directed=1; choose one of False, True"):
        converted(folder, directed=1)
    graph = converted(folder, "plain.csv")
    with pytest.raises(RuntimeError, match=r"g\.gl has no weights; convert a table whose third"):
        graph.get_weights(0)
    with pytest.raises(TypeError, match="nodes must be integers"):
        graph.batch_random_fanout([0.5], 2)
    gm.compile_graph(([0], [1]), folder / "in.gl", neighbors="in")
    with pytest.raises(RuntimeError, match="neighbors="):
        gz.Graph(folder / "in.gl").get_neighbours(0)


def test_pickling_and_writing(folder):
    graph = converted(folder)
    gz.convert_csv_to_gd(folder / "x.csv", folder / "x.gd", gz.DataType.FLOAT32)
    store = gz.FeatureStore(folder / "x.gd")
    again = pickle.loads(pickle.dumps((graph, store)))  # noqa: S301
    assert again[0].get_neighbours(0).tolist() == graph.get_neighbours(0).tolist()
    assert again[1].get_data(2).tolist() == [5, 6]
    before = (folder / "x.gd").read_bytes()
    store.get_tensor()[:] = 7
    graph.get_neighbours(0)[:] = 0
    assert (folder / "x.gd").read_bytes() == before
    assert 5 in graph.get_neighbours(0)
    assert isinstance(graph.mounted, gm.Graph)
    assert isinstance(store.mounted, gm.FeatureStore)
    assert repr(graph).startswith("<graphzero.Graph over <Graph ")
    assert repr(store).startswith("<graphzero.FeatureStore over <FeatureStore ")


def test_what_separates_columns_is_found(folder):
    for text in ("0, 1\n1, 2\n", "0\t1\n1\t2\n", "0;1\n1;2\n", "0 1\n\n1 2\n"):
        (folder / "edges.csv").write_text(text)
        graph = converted(folder, directed=True)
        assert [graph.get_neighbours(node).tolist() for node in range(3)] == [[1], [2], []]


def test_headers_and_weights_are_found(folder):
    for text, has_weights in (
        ("0,1\n1,2\n", False),
        ("a,b\n0,1\n1,2\n", False),
        ("0,1,2\n1,2,3\n", True),
        ("src,dst\n0,1,0.5\n", True),
        ("src,dst,w\r\n0,1,0.5\r\n1,2,1\r\n", True),
        ("0,1,2,3\n1,2,3,4\n", True),
    ):
        (folder / "edges.csv").write_text(text)
        graph = converted(folder, directed=True)
        assert graph.has_weights == has_weights, text
        assert graph.get_neighbours(0).tolist() == [1]
        assert set(graph.mounted.directions) == {"in", "out"}
