"""The calls of `TypedDataset` that sample and walk: whose ids they take, and whose they give."""

from __future__ import annotations

import numpy as np
import pytest

import graphmount as gm
from graphmount.errors import IdError

WRITES = ("author", "writes", "paper")


@pytest.fixture(scope="module", params=["hot", "given"])
def ds(tmp_path_factory, request):
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("typed") / "mag"
    edges = (rng.integers(0, 40, 300), (100 * rng.random(300) ** 2).astype(np.int64))
    gm.compile_dataset(
        path,
        nodes={
            "paper": gm.Nodes(num_nodes=100, splits={"train": np.arange(20)}),
            "author": gm.Nodes(num_nodes=40),
        },
        edges={WRITES: edges},
        reverse=True,
        order=request.param,
        progress=False,
    )
    opened = gm.Dataset(path)
    opened.written = set(zip(*(ends.tolist() for ends in edges), strict=True))
    return opened


def test_edges_of_a_sample_are_those_of_the_source(ds):
    sample = ds.sample_neighbors(("paper", "train"), [-1, -1])
    papers, authors = (
        np.asarray(ds.nodes[name].to_external(sample.nodes[name])) for name in ("paper", "author")
    )
    source, destination = sample.edge_index[WRITES]
    pairs = set(zip(authors[source].tolist(), papers[destination].tolist(), strict=True))
    # All edges that lead to the seeds, which are papers, and to papers of their authors.
    seeds = set(papers[: sample.num_sampled_nodes["paper"][0]].tolist())
    assert seeds == set(range(20))
    assert {pair for pair in ds.written if pair[1] in seeds} <= pairs <= ds.written
    assert sample.num_sampled_nodes["author"] == (0, len(authors), 0)


def test_seeds_say_whose_ids_they_are(ds):
    call = {"fanouts": [2], "seed": 1}
    known = ds.sample_neighbors(("paper", ds.nodes["paper"].to_internal([3, 50])), **call)
    named = ds.sample_neighbors({"paper": [3, 50]}, ids="external", **call)
    mask = np.isin(np.arange(100), [3, 50])
    masked = ds.sample_neighbors(("paper", mask), ids="external", **call)
    np.testing.assert_array_equal(known.nodes["paper"], named.nodes["paper"])
    assert sorted(masked.nodes["paper"]) == sorted(known.nodes["paper"])
    if ds.description["order"] == "hot":
        with pytest.raises(IdError, match="ids='external'"):
            ds.sample_neighbors(("paper", [3, 50]), **call)
        with pytest.raises(IdError):
            ds.sample_neighbors(("author", ds.nodes["paper"].to_internal([3])), **call)
        with pytest.raises(IdError):
            ds.nodes["author"].to_external(known.nodes["paper"])
    with pytest.raises(IdError, match="100"):
        ds.sample_neighbors(("paper", [100]), ids="internal", **call)


def test_walks_go_along_edges_of_the_source(ds):
    path = [WRITES, ("paper", "rev_writes", "author")]
    walks = ds.random_walk(np.arange(40), path, ids="external", seed=1)
    authors = ds.nodes["author"]
    np.testing.assert_array_equal(
        authors.to_external(authors.as_internal(walks[:, 0])), np.arange(40)
    )
    gone = walks[walks[:, 1] >= 0]
    papers = ds.nodes["paper"].to_external(ds.nodes["paper"].as_internal(gone[:, 1]))
    first = authors.to_external(authors.as_internal(gone[:, 0]))
    assert set(zip(first.tolist(), papers.tolist(), strict=True)) <= ds.written
    assert (gone[:, 2] >= 0).all()  # there is always a way back


@pytest.mark.parametrize("relations", [[], [("author", "likes", "paper")], "writes", [WRITES[0]]])
def test_walks_along_nothing_are_refused(ds, relations):
    with pytest.raises(ValueError, match="relations"):
        ds.random_walk([0], relations, ids="internal")


def test_unknown_types_and_splits_are_refused(ds):
    with pytest.raises(ValueError, match="no node type 'papers'"):
        ds.sample_neighbors(("papers", [0]), [1])
    with pytest.raises(ValueError, match="no split 'valid'; there are"):
        ds.sample_neighbors(("paper", "valid"), [1])
    with pytest.raises(ValueError, match="ids"):
        ds.sample_neighbors(("paper", [0]), [1], ids="both")
    if ds.description["order"] == "hot":
        papers = ds.nodes["paper"].to_internal([3])
        with pytest.raises(IdError):
            ds.random_walk(papers, [WRITES])
        with pytest.raises(IdError):
            ds.sample_neighbors({"paper": papers, "author": papers}, [1])


@pytest.mark.parametrize("order", ["hot", "given"])
@pytest.mark.parametrize("strategy", ["uniform", "last"])
def test_nodes_are_drawn_by_their_times(tmp_path, order, strategy):
    """Times of the source, seeds by ids of the source, by their own times and by given ones."""
    rng = np.random.default_rng(4)
    years = rng.integers(2000, 2020, 100)
    cites = rng.integers(0, 100, (2, 2_000))
    gm.compile_dataset(
        tmp_path / "mag",
        nodes={"paper": gm.Nodes(timestamps=years), "author": gm.Nodes(num_nodes=40)},
        edges={
            WRITES: (rng.integers(0, 40, 300), rng.integers(0, 100, 300)),
            ("paper", "cites", "paper"): cites,
        },
        order=order,
        progress=False,
    )
    papers = (ds := gm.Dataset(tmp_path / "mag")).nodes["paper"]
    seeds = np.arange(0, 100, 3)
    call = {"fanouts": [6, 3], "ids": "external", "temporal_strategy": strategy, "seed": 1}
    for given in (None, np.full(len(seeds), 2010)):
        sample = ds.sample_neighbors(("paper", seeds), time=given, time_of="nodes", **call)
        found = np.asarray(papers.to_external(sample.nodes["paper"]))
        np.testing.assert_array_equal(found[: len(seeds)], seeds)
        limits = years[seeds] if given is None else given
        drawn = slice(len(seeds), None)
        assert (years[found[drawn]] <= limits[sample.batch["paper"][drawn]]).all()
        assert len(sample.nodes["author"]) > 30
        # How many a seed draws is how many of its papers are early enough, up to the fanout.
        source, target = sample.edge_index["paper", "cites", "paper"]
        for number, seed in enumerate(seeds):
            early = years[cites[0][cites[1] == seed]]
            early = np.sort(early[early <= limits[number]])
            mine = np.sort(years[found[source[target == number]]])
            assert len(mine) == min(6, len(early))
            if strategy == "last":
                np.testing.assert_array_equal(mine, early[len(early) - len(mine) :])
    with pytest.raises(TypeError, match="time_of='nodes' or time_of='edges'"):
        ds.sample_neighbors(("paper", seeds), [2], time_attr="year")


@pytest.mark.parametrize("weighting", ["uniform", "degree"])
def test_negatives_are_between_the_right_types(ds, weighting):
    """Of ids of the source, and strict by the edges of the source."""
    papers, authors = ds.nodes["paper"], ds.nodes["author"]
    call = {"num": 30, "weighting": weighting, "strict": True, "ids": "external", "seed": 1}
    kept = np.arange(40)
    drawn = ds.sample_negatives(WRITES, kept, **call)
    found = np.asarray(papers.to_external(drawn.ravel()))
    pairs = set(zip(np.repeat(kept, 30).tolist(), found.tolist(), strict=True))
    assert len(pairs) > 500
    assert not pairs & ds.written
    drawn = ds.sample_negatives(WRITES, "train", corrupt="source", seed=1)
    assert drawn.shape == (20, 1)
    assert np.asarray(authors.to_external(drawn.ravel())).max() < 40
    sources, destinations = ds.sample_negative_pairs(WRITES, 2_000, weighting=weighting, seed=1)
    assert not ds.edges[WRITES].graph.has_edge(sources, destinations).any()
    found = zip(authors.to_external(sources), papers.to_external(destinations), strict=True)
    assert not set(found) & ds.written
    if ds.description["order"] == "hot":
        with pytest.raises(IdError):
            ds.sample_negatives(WRITES, papers.to_internal([3]))
        with pytest.raises(IdError):
            ds.edges[WRITES].graph.has_edge(destinations[:1], sources[:1])
    with pytest.raises(ValueError, match="relation: there is no relation"):
        ds.sample_negatives(("author", "likes", "paper"), [0], ids="internal")
    with pytest.raises(ValueError, match="relation: there is no relation 'writes'"):
        ds.sample_negative_pairs("writes", 3)
    with pytest.raises(IdError, match="40"):
        ds.sample_negatives(WRITES, [40], ids="internal")
