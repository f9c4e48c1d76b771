"""Ids of a node type are refused where another type is meant, also in the order of the source.

In that order numbers mean the same inside and outside, so plain integers are taken everywhere. But
what a dataset gives knows its type.
"""

from __future__ import annotations

import numpy as np
import pytest

import graphmount as gm
from graphmount.errors import IdError

WRITES = ("author", "writes", "paper")
CITES = ("paper", "cites", "paper")


@pytest.fixture(params=["given", "hot"])
def ds(request, tmp_path):
    gm.compile_dataset(
        tmp_path / "ds",
        nodes={
            "paper": gm.Nodes(
                features={"x": np.arange(12.0).reshape(6, 2)},
                labels=np.arange(6),
                splits={"train": [0, 2, 4]},
                timestamps=np.arange(6) * 10,
            ),
            "author": gm.Nodes(num_nodes=6, splits={"known": [1, 3]}),
        },
        edges={
            WRITES: ([0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0]),
            CITES: ([0, 1, 2], [3, 4, 5]),
        },
        reverse=True,
        order=request.param,
    )
    return gm.Dataset(tmp_path / "ds")


def ids_of(ds, name):
    """Ids of a type, from every call that gives some, by the name of the call."""
    nodes, graph = ds.nodes[name], ds.edges[WRITES].graph
    relation = next(each for each in ds.edge_types if each[2] == name)
    loader = gm.NeighborLoader(ds, [2], input_nodes=(name, nodes.to_internal([1, 2])), batch_size=2)
    other = "author" if name == "paper" else "paper"
    own = ds.nodes[other].to_internal([1])
    direction = "in" if name == "author" else "out"
    corrupt = "destination" if name == "paper" else "source"
    pairs = ds.sample_negative_pairs(WRITES, 2, seed=1)
    return {
        "to_internal": nodes.to_internal([1, 2]),
        "as_internal": nodes.as_internal([1, 2]),
        "splits": nodes.splits["train" if name == "paper" else "known"],
        "a slice": nodes.to_internal([1, 2, 3])[1:],
        "neighbors": graph.neighbors(int(own[0]), direction=direction),
        "fanout": graph.batch_random_fanout(own, 2, direction=direction, seed=1)[0],
        "sample": ds.sample_neighbors({relation[0]: [1], name: [2]}, [2], ids="external").nodes[
            name
        ],
        "negatives": ds.sample_negatives(WRITES, own, num=2, corrupt=corrupt, seed=1)[0],
        "negative pairs": pairs[0] if name == "author" else pairs[1],
        "batch": next(iter(loader)).nodes[name],
    }


def calls_for_papers(ds):
    """Calls that take ids of papers, by name."""
    papers, writes, cites = ds.nodes["paper"], ds.edges[WRITES].graph, ds.edges[CITES].graph
    x = papers.features["x"]
    return {
        "degree": writes.degree,
        "fanout": lambda ids: writes.batch_random_fanout(ids, 2),
        "has_edge": lambda ids: cites.has_edge(ids, papers.to_internal([0] * len(ids))),
        "gather": x.gather,
        "rows": lambda ids: x[ids],
        "numpy": lambda ids: x.numpy()[ids],
        "a column": lambda ids: x[:, 1][ids],
        "labels": lambda ids: papers.labels[ids],
        "labels.take": papers.labels.take,
        "times": lambda ids: papers.timestamps[ids],
        "to_external": papers.to_external,
        "as_internal": papers.as_internal,
        "sample": lambda ids: ds.sample_neighbors(("paper", ids), [2]),
        "walk": lambda ids: ds.random_walk(ids, [CITES]),
        "negatives": lambda ids: ds.sample_negatives(CITES, ids, corrupt="source"),
        "loader": lambda ids: gm.NeighborLoader(ds, [2], input_nodes=("paper", ids)),
        "links": lambda ids: gm.LinkNeighborLoader(
            ds, [2], edge_label_index=(CITES, (ids, papers.to_internal([0] * len(ids))))
        ),
        "destinations": lambda ids: gm.LinkNeighborLoader(
            ds,
            [2],
            edge_label_index=(WRITES, (ds.nodes["author"].to_internal([0] * len(ids)), ids)),
        ),
    }


def test_every_call_that_gives_ids_says_their_type(ds):
    for name in ("paper", "author"):
        for call, ids in ids_of(ds, name).items():
            assert isinstance(ids, gm.NodeIds), call
            assert ids.order == ds.nodes[name].order, call


def test_ids_of_authors_are_not_taken_for_papers(ds):
    for take in calls_for_papers(ds).values():
        for ids in ids_of(ds, "author").values():
            with pytest.raises(IdError, match=r"another dataset.* of another type"):
                take(ids)


def test_ids_of_papers_are_taken_for_papers(ds):
    for take in calls_for_papers(ds).values():
        for ids in ids_of(ds, "paper").values():
            take(ids)


@pytest.mark.parametrize("ds", ["given"], indirect=True)
def test_plain_integers_are_taken_in_the_order_of_the_source(ds):
    for take in calls_for_papers(ds).values():
        take([1, 2])
    papers = ds.nodes["paper"]
    assert papers.labels[[1, 2]].tolist() == [1, 2]
    assert (papers.labels < 3)[[0, 5]].tolist() == [True, False]
    assert papers.features["x"].numpy()[[3]].tolist() == [[6.0, 7.0]]


@pytest.mark.parametrize("ds", ["given"], indirect=True)
def test_masks_of_one_type_are_not_taken_for_another(ds, tmp_path):
    authors, papers = ds.nodes["author"], ds.nodes["paper"]
    authors.add_features("y", np.arange(6.0))
    opened = gm.Dataset(tmp_path / "ds")
    with pytest.raises(IdError, match=r"another dataset.* of another type"):
        opened.nodes["author"].features["y"][papers.labels < 3]
    assert opened.nodes["author"].features["y"][np.arange(6) < 3].tolist() == [0.0, 1.0, 2.0]


def test_external_ids_are_plain(ds):
    papers = ds.nodes["paper"]
    plain = papers.to_external(papers.to_internal([3, 1]))
    assert type(plain) is np.ndarray
    assert plain.tolist() == [3, 1]


def test_ids_in_tensors_know_their_type(ds):
    torch_form = pytest.importorskip("graphmount.torch", exc_type=ImportError)
    loader = torch_form.NeighborLoader(ds, [2], input_nodes=("paper", "train"), batch_size=3)
    nodes = next(iter(loader)).nodes
    ds.nodes["paper"].features["x"].gather(nodes["paper"])
    with pytest.raises(IdError, match=r"another dataset.* of another type"):
        ds.nodes["paper"].features["x"].gather(nodes["author"])
