"""Words from other libraries: each advice is followed to the letter, and must work."""

from __future__ import annotations

import importlib.util
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import graphmount as gm
from graphmount._support import foreign_words as words

HAS_TORCH = importlib.util.find_spec("torch") is not None

CALLS = {
    "compile_dataset": (gm.compile_dataset, words.DATASET_WORDS),
    "compile_graph": (gm.compile_graph, words.GRAPH_WORDS),
    "compile_features": (gm.compile_features, words.FEATURE_WORDS),
    "Table": (gm.Table, words.TABLE_WORDS),
    "EdgeTable": (gm.EdgeTable, words.EDGE_WORDS),
    "Dataset": (gm.Dataset, words.OPENING_WORDS),
    "sample_neighbors": (gm.Graph.sample_neighbors, words.SAMPLING_WORDS),
    "NeighborLoader": (gm.NeighborLoader, words.NODE_LOADER_WORDS),
    "LinkNeighborLoader": (gm.LinkNeighborLoader, words.LINK_LOADER_WORDS),
}


def call_with(name, word, tmp_path):
    """The message of a call that is given this word."""
    call, _ = CALLS[name]
    given = (gm.Graph(tmp_path / "web/graph.gl"),) if name == "sample_neighbors" else ()
    with pytest.raises(TypeError) as caught:
        call(*given, **{word: 1})
    return str(caught.value)


@pytest.fixture
def web(tmp_path, monkeypatch):
    """Files of text with a header, and a dataset with all that a graph may have."""
    monkeypatch.chdir(tmp_path)
    Path("edges.csv").write_text("from;to;w;t\n3;0;1;5\n3;1;2;6\n1;2;3;7\n")
    Path("nodes.csv").write_text("id;x;y;fold\n2;1;a;train\n0;2;b;train\n1;3;a;val\n3;4;b;test\n")
    edges = gm.EdgeTable(source="edges.csv", weights="w", timestamps="t")
    table = gm.Table(source="nodes.csv", key="id", columns=["fold"])
    gm.compile_dataset("web", edges=edges, splits=table, order="given")
    return gm.Dataset("web")


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.usefixtures("web")
def test_every_word_has_an_advice(name, tmp_path):
    call, advice_of = CALLS[name]
    names = set(inspect.signature(call).parameters) - {"self"}
    assert names.isdisjoint(advice_of), "a name that the call has needs no advice"
    for word, advice in advice_of.items():
        message = call_with(name, word, tmp_path)
        assert f"{name} has no option {word!r}; " in message
        if advice in names:
            assert message.endswith(f"; did you mean {advice!r}?")
            continue
        assert " " in advice, f"{advice!r} is no name of {name}"
        assert message.endswith(advice)
        # Whatever a sentence tells to write has the names that there are.
        for called, option in re.findall(r"gm\.(\w+)\([^)]*?(\w+)=[^=)]*\)", advice):
            assert option in inspect.signature(getattr(gm, called)).parameters


def test_tables_take_what_datasets_do_not(web):
    """`header=`, `columns=`, `key=` and their like belong to the tables of `compile_dataset`."""
    del web
    gm.compile_dataset(
        "told",
        edges=gm.EdgeTable(
            source="edges.csv",
            header=True,
            delimiter=";",
            comments="#",
            columns=("from", "to"),
            weights="w",
            timestamps="t",
        ),
        labels=gm.Table(
            source="nodes.csv",
            key="id",
            header=True,
            delimiter=";",
            comments="#",
            columns=["y"],
            missing=-1,
            repeated="first",
        ),
        features={
            "x": gm.Table(source="nodes.csv", key="id", columns=["x"], nan=0.0, dtype="float32"),
            "q": gm.Table(source="nodes.csv", key="id", columns=["x"], quantize="column"),
        },
        splits=gm.Table(source="nodes.csv", key="id", columns=["fold"]),
    )
    ds = gm.Dataset("told")
    assert ds.graph.has_weights
    assert ds.graph.has_timestamps
    assert ds.classes == ["a", "b"]
    assert sorted(ds.splits) == ["test", "train", "val"]


def test_binary_sources(web):
    """`shape=`, `dtype=`, `source_dtype=` and `member=` belong to tables as well."""
    del web
    np.array([[0, 1], [1, 2]], np.int64).tofile("edges.bin")
    np.ones((3, 2), np.float32).tofile("rows.bin")
    np.savez("rows.npz", a=np.ones((3, 1)), b=np.zeros((3, 1)))
    gm.compile_dataset(
        "told",
        edges=gm.EdgeTable(source="edges.bin", shape=(2, 2), dtype="int64"),
        features={
            "x": gm.Table(source="rows.bin", shape=(3, 2), source_dtype="float32"),
            "b": gm.Table(source="rows.npz", member="b"),
        },
    )
    assert gm.Dataset("told").features["x"].shape == (3, 2)


def test_arguments_of_datasets(web):
    """`undirected`, `x`, `y`, `edge_attr`, masks."""
    del web
    gm.compile_dataset(
        "told",
        edges=([0, 1], [1, 2]),
        directed=False,
        features={"x": np.eye(3)},
        labels=[0, 1, 0],
        edge_features={"edge_attr": [[1.0], [2.0]]},
        splits={"train": [True, False, False], "val": [1], "test": np.array([2])},
        order="given",
    )
    ds = gm.Dataset("told")
    assert not ds.graph.directed
    assert ds.graph.neighbors(1).tolist() == [0, 2]
    gm.compile_graph(([0, 1], [1, 2]), "told.gl", directed=False)
    assert not gm.Graph("told.gl").directed


def test_arguments_of_the_call_around_a_table(web):
    """What `EdgeTable` does not take, `compile_dataset` does."""
    del web
    made = gm.compile_dataset(
        "told",
        edges=gm.EdgeTable(source=([0, 0, 1], [1, 1, 1])),
        directed=False,
        ids="dense",
        node_ids=["ann", "bob", "cay"],
        num_nodes=3,
        dedup=True,
        self_loops="drop",
    )
    assert (made.num_nodes, made.num_edges) == (3, 2)
    Path("more.csv").write_text("1,2\n")
    gm.compile_dataset("names", edges="more.csv", ids="map", key_type="str")
    assert sorted(gm.Dataset("names").to_external([0, 1])) == ["1", "2"]


def test_arguments_of_loaders(web):
    nodes = gm.NeighborLoader(
        web,
        num_neighbors=[15, 10],
        input_nodes="train",
        input_time=[9, 9],
        weighted=True,
        direction="in",
        replace=True,
        memory="1MiB",
        window=2,
        prefetch=1,
        seed=1,
    )
    assert [batch.num_seeds for batch in nodes] == [1, 1]
    assert len(list(gm.NeighborLoader(web, [1], subgraph_type="induced", seed=1))) == 4
    ordered = gm.NeighborLoader(web, [1], input_nodes=[2, 0, 1], seed=1)
    assert [batch.nodes[0] for batch in ordered] == [2, 0, 1]
    links = gm.LinkNeighborLoader(
        web,
        [1],
        edge_label_index=[[3, 1], [1, 2]],
        edge_label=[1, 2],
        edge_label_time=[9, 9],
        neg_sampling_ratio=1.0,
        batch_size=2,
        seed=1,
    )
    assert next(iter(links)).edge_label.tolist() == [1, 2, 0, 0]


def test_arguments_of_sampling(web):
    sample = web.graph.sample_neighbors(
        [2, 0], [1], weighted=True, time=[9, 9], direction="in", replace=True, seed=1
    )
    assert sample.num_seeds == 2
    assert web.graph.sample_neighbors([2], [1], subgraph_type="induced").num_edges == 1
    before = gm.num_threads()
    gm.set_num_threads(4)
    gm.set_num_threads(before)


@pytest.mark.skipif(not HAS_TORCH, reason="torch is not installed")
def test_what_loaders_of_tensors_have(web):
    import graphmount.torch

    batch = next(iter(graphmount.torch.NeighborLoader(web, [1], pin_memory=False, seed=1)))
    assert str(batch.to("meta").nodes.device) == "meta"
