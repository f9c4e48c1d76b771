"""Sampling by the times of nodes: long lists, distributions, threads, whose times count, refusals.

What small samples look like is compared with the twin in test_typed_sampling.py.
"""

from __future__ import annotations

import numpy as np
import pytest
from chi_squared import assert_fits, fits
from sampling_twin import Lists
from typed_twin import TypedTwin

import graphmount as gm
from graphmount import errors
from graphmount._dataset.typed.sampling import TypedSampling

WRITES, CITES = ("author", "writes", "paper"), ("paper", "cites", "paper")
HUB_DEGREE = 5_000


def times_table(path, times):
    gm.compile_features(np.asarray(times, np.int64).reshape(-1, 1), path)
    return gm.FeatureStore(path)


class Hub:
    """Paper 0 has more authors than are looked at for one node alone; paper 1 has 40.

    Author i has the weight i % 4 + 1, and the time `times[i]`.
    """

    def __init__(self, folder, times):
        self.times = np.asarray(times)
        authors = np.concatenate([np.arange(HUB_DEGREE), np.arange(40)])
        papers = np.repeat([0, 1], [HUB_DEGREE, 40])
        weights = (authors % 4 + 1).astype(np.float32)
        gm.compile_graph(
            (authors, papers),
            folder / "g.gl",
            weights=weights,
            num_sources=HUB_DEGREE,
            num_destinations=2,
        )
        self.graph = gm.Graph(folder / "g.gl")
        self.sampling = TypedSampling(
            {"author": HUB_DEGREE, "paper": 2},
            {WRITES: self.graph},
            {"author": times_table(folder / "t.gd", times)},
        )

    def draw(self, papers, time, k, **options):
        return self.sampling.sample_neighbors(("paper", papers), [k], time=time, **options)

    def picks(self, papers, time, k, **options):
        """A row for each paper, which all have k picks."""
        sample = self.draw(papers, time, k, **options)
        authors = sample.nodes["author"][sample.edge_index[WRITES][0]]
        return authors.reshape(len(papers), k)


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    return Hub(
        tmp_path_factory.mktemp("hub"),
        np.random.default_rng(1).integers(0, 1_000, HUB_DEGREE),
    )


@pytest.mark.parametrize("k", [1, 12, 300, 2_000, -1])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"replace": True},
        {"weighted": True},
        {"weighted": True, "replace": True},
        {"temporal_strategy": "last"},
    ],
    ids=str,
)
def test_long_lists_draw_what_the_twin_allows(hub, options, k):
    """Many trees ask for the same long list: at times when none, few, some and all are there."""
    times = [-1, 0, 0, 1, 2, 5, 50, 500, 500, 998, 999, 10_000]
    seeds = [0, 1] * len(times)
    by_tree = np.repeat(times, 2).tolist()
    sample = hub.draw(seeds, by_tree, k, seed=7, **options)
    lists = Lists(hub.graph, "in").by_neighbor_times(hub.times)
    twin = TypedTwin(
        {WRITES: lists}, "in", ("author", "paper"), {"paper": seeds}, by_tree, disjoint=True
    )
    twin.replay(
        {WRITES: [k]},
        {WRITES: sample.edge_ids[WRITES].tolist()},
        timed={WRITES: True},
        replace=options.get("replace", False),
        weighted=options.get("weighted", False),
        last="temporal_strategy" in options,
    )
    assert sample.nodes["author"].tolist() == twin.nodes["author"]
    assert sample.edge_index[WRITES].tolist() == twin.edge_index(WRITES)


def test_the_last_are_in_the_order_of_time(hub):
    """And of equal times, those that come last in the list."""
    order = np.lexsort([np.arange(HUB_DEGREE), hub.times])
    early = order[hub.times[order] <= 500]
    (alone,) = hub.picks([0], [500], 20, temporal_strategy="last")
    several = hub.picks([0, 0, 0], [500, 900, 500], 20, temporal_strategy="last")
    np.testing.assert_array_equal(alone, early[-20:])
    np.testing.assert_array_equal(several[0], early[-20:])
    np.testing.assert_array_equal(several[2], early[-20:])


@pytest.mark.parametrize("k", [3, 40])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_tree_draws_the_same_whoever_else_asks(hub, weighted, k):
    """A long list is sorted once for all trees of a hop, which must not be seen in the result."""
    others = [3, 999, 40, 3]
    for time in (1, 3, 30, 900):
        alone = hub.draw([0], [time], k, weighted=weighted, seed=9)
        among = hub.draw([0, *[0] * 4], [time, *others], k, weighted=weighted, seed=9)
        own = among.edge_index[WRITES][1] == 0
        np.testing.assert_array_equal(alone.edge_ids[WRITES], among.edge_ids[WRITES][own])


TREES = 20_000


class Planted:
    """Seven authors of a paper are early, at uneven distances; their weights are 1 to 7."""

    def __init__(self, folder, degree, early_authors):
        self.early = np.array(early_authors)
        times = np.full(degree, 10)
        times[self.early] = 3
        weights = np.full(degree, 2.0, np.float32)
        weights[self.early] = np.arange(1, 8)
        gm.compile_graph(
            (np.arange(degree), np.zeros(degree, np.int64)),
            folder / "g.gl",
            weights=weights,
            num_sources=degree,
            num_destinations=1,
        )
        self.degree = degree
        self.sampling = TypedSampling(
            {"author": degree, "paper": 1},
            {WRITES: gm.Graph(folder / "g.gl")},
            {"author": times_table(folder / "t.gd", times)},
        )

    def picks(self, k, **options):
        sample = self.sampling.sample_neighbors(
            ("paper", np.zeros(TREES, np.int64)), [k], time=np.full(TREES, 5), seed=3, **options
        )
        authors = sample.nodes["author"][sample.edge_index[WRITES][0]]
        return np.searchsorted(self.early, authors).reshape(TREES, k)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((9, [0, 1, 2, 4, 5, 7, 8]), id="filtered"),
        pytest.param((60, [0, 1, 2, 30, 40, 58, 59]), id="drawn, then filtered"),
        pytest.param((2_500, [0, 1, 2, 900, 901, 2_000, 2_499]), id="drawn, then sorted"),
    ],
)
def planted(request, tmp_path_factory):
    return Planted(tmp_path_factory.mktemp("planted"), *request.param)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("replace", [False, True])
def test_picks_are_distributed_as_they_should_be(planted, weighted, replace):
    """Pairs of picks, in their order, of which the first is by weight among all that are early."""
    weights = np.arange(1, 8) if weighted else np.ones(7)
    picks = planted.picks(2, weighted=weighted, replace=replace)
    first = weights / weights.sum()
    pairs = np.outer(first, first)
    if not replace:
        np.fill_diagonal(pairs, 0)
        pairs = pairs / pairs.sum(axis=1, keepdims=True) * first[:, None]
    counts = np.bincount(picks[:, 0] * 7 + picks[:, 1], minlength=49)
    assert_fits(counts, pairs.ravel())
    # Trees draw independently of each other.
    joint = np.bincount(picks[:-1, 0] * 7 + picks[1:, 0], minlength=49)
    assert_fits(joint, np.outer(first, first).ravel())
    # The test itself: samplers that are wrong do not fit. One goes on to the next author that is
    # early where it meets a late one, one takes the second pick from what is left by place.
    generator = np.random.default_rng(1)
    met = np.searchsorted(planted.early, generator.integers(0, planted.degree, TREES)) % 7
    assert not fits(np.bincount(met, minlength=7), first)
    neighbors = np.bincount(picks[:, 0] * 7 + (picks[:, 0] + 1) % 7, minlength=49)
    assert not fits(neighbors, pairs.ravel())


def test_most_of_a_long_list_is_drawn_from_evenly(hub):
    """Where most are early, nothing is filtered; none of them is favored."""
    picks = hub.picks(np.zeros(30_000, np.int64), np.full(30_000, 799), 2, seed=1)
    early = np.flatnonzero(hub.times <= 799)
    of_early = np.searchsorted(early, picks)
    assert (early[of_early] == picks).all()
    shares = np.full(100, 1 / 100)
    groups = of_early * 100 // len(early)
    sizes = np.bincount(np.arange(len(early)) * 100 // len(early)) / len(early)
    assert_fits(np.bincount(groups[:, 0]), sizes)
    assert_fits(np.bincount(groups[:, 1]), sizes)
    assert not fits(np.bincount(np.minimum(groups[:, 0], groups[:, 1]), minlength=100), shares)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Papers cite and have authors; both have times, and so have citations. Some lists are long."""
    folder = tmp_path_factory.mktemp("large")
    generator = np.random.default_rng(2)
    counts = {"author": 5_000, "paper": 20_000}
    graphs = {}
    for relation in (WRITES, CITES):
        largest = np.array([[counts[relation[0]]], [counts[relation[2]]]])
        edges = (largest * generator.random((2, 100_000)) ** 3).astype(np.int64)
        size = {"num_sources": counts[relation[0]], "num_destinations": counts[relation[2]]}
        options = {"timestamps": generator.integers(0, 100, 100_000)}
        if relation == CITES:
            size = {"num_nodes": counts["paper"]}
        path = folder / f"{relation[1]}.gl"
        gm.compile_graph((edges[0].copy(), edges[1].copy()), path, **size, **options)
        graphs[relation] = gm.Graph(path)
        assert graphs[relation].degree(np.arange(10)).max() > 2_048
    times = {
        name: times_table(folder / f"{name}.gd", generator.integers(0, 100, count))
        for name, count in counts.items()
    }
    return counts, graphs, times


@pytest.mark.parametrize("strategy", ["uniform", "last"])
def test_the_same_sample_for_any_number_of_threads(large, strategy):
    seeds = np.random.default_rng(3).integers(0, 20_000, 300) % 1_000
    before = gm.num_threads()
    samples = []
    try:
        for threads in (1, 2, 7):
            gm.set_num_threads(threads)
            samples.append(
                TypedSampling(*large).sample_neighbors(
                    ("paper", seeds),
                    [8, 6, 4],
                    time=seeds % 100,
                    time_of="nodes",
                    temporal_strategy=strategy,
                    seed=5,
                )
            )
    finally:
        gm.set_num_threads(before)
    first = samples[0]
    assert first.num_edges > 5_000
    for sample in samples[1:]:
        for name in ("author", "paper"):
            np.testing.assert_array_equal(sample.nodes[name], first.nodes[name])
        for relation in (WRITES, CITES):
            np.testing.assert_array_equal(sample.edge_index[relation], first.edge_index[relation])
            np.testing.assert_array_equal(sample.edge_ids[relation], first.edge_ids[relation])
    times = {name: store.numpy().reshape(-1) for name, store in large[2].items()}
    for name in ("author", "paper"):
        drawn = slice(first.num_sampled_nodes[name][0], None)
        trees = first.batch[name][drawn]
        assert (times[name][first.nodes[name][drawn]] <= (seeds % 100)[trees]).all()


def test_seeds_have_their_own_times_by_default(large):
    counts, graphs, times = large
    sampling = TypedSampling(*large)
    seeds = np.arange(200)
    own = times["paper"].numpy().reshape(-1)[seeds]
    call = {"fanouts": [5, 5], "time_of": "nodes", "seed": 1}
    by_default = sampling.sample_neighbors(("paper", seeds), **call)
    given = sampling.sample_neighbors(("paper", seeds), time=own, **call)
    np.testing.assert_array_equal(by_default.nodes["paper"], given.nodes["paper"])
    np.testing.assert_array_equal(by_default.edge_ids[CITES], given.edge_ids[CITES])
    only_papers = TypedSampling(counts, graphs, {"paper": times["paper"]})
    with pytest.raises(errors.MissingDataError, match="'author' have no times of their own"):
        only_papers.sample_neighbors(("author", [0]), [2], time_of="nodes")
    with pytest.raises(ValueError, match="time_of='edges' needs time="):
        sampling.sample_neighbors(("paper", [0]), [2], time_of="edges")


def test_whose_times_count(large):
    """Of those that exist; where both do, the caller has to say."""
    counts, graphs, times = large
    call = {"seeds": ("paper", np.arange(50)), "fanouts": [20], "time": np.full(50, 30), "seed": 1}
    with pytest.raises(ValueError, match=r"time_of='edges' or time_of='nodes'"):
        TypedSampling(*large).sample_neighbors(**call)
    by_edges = TypedSampling(*large).sample_neighbors(**call, time_of="edges")
    alone = TypedSampling(counts, graphs).sample_neighbors(**call)
    np.testing.assert_array_equal(by_edges.edge_ids[CITES], alone.edge_ids[CITES])
    # Authors have no times here, and are there at any time; those of papers count.
    some = TypedSampling(counts, graphs, {"paper": times["paper"]})
    sample = some.sample_neighbors(**call, time_of="nodes")
    paper_times = times["paper"].numpy().reshape(-1)[sample.nodes["paper"][50:]]
    assert paper_times.max() <= 30
    author_times = times["author"].numpy().reshape(-1)[sample.nodes["author"]]
    assert author_times.max() > 90
    # Edges from papers: only authors are drawn, and no relation has authors with times.
    with pytest.raises(errors.MissingDataError, match="no nodes that can be drawn have times"):
        TypedSampling(counts, {WRITES: graphs[WRITES]}, {"paper": times["paper"]}).sample_neighbors(
            **call, time_of="nodes"
        )


def test_relations_without_times_draw_evenly_where_others_take_the_last(tmp_path):
    """They are there at any time, so there is no last one."""
    degree, papers = 9, 3_000
    edges = (np.tile(np.arange(degree), papers), np.repeat(np.arange(papers), degree))
    counts = {"author": degree, "venue": degree, "paper": papers}
    relations = {WRITES: "w.gl", ("venue", "prints", "paper"): "p.gl"}
    for name in relations.values():
        gm.compile_graph(edges, tmp_path / name, num_sources=degree, num_destinations=papers)
    graphs = {relation: gm.Graph(tmp_path / name) for relation, name in relations.items()}
    times = {"author": times_table(tmp_path / "t.gd", np.arange(degree)[::-1])}
    sample = TypedSampling(counts, graphs, times).sample_neighbors(
        ("paper", np.arange(papers)), [1], time=np.full(papers, 4), temporal_strategy="last", seed=1
    )
    assert (sample.nodes["author"] == 4).all()
    assert_fits(np.bincount(sample.nodes["venue"], minlength=degree), np.ones(degree))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: times_table(path, np.zeros(4_999)), "4999 nodes, and 5000 nodes"),
        (lambda path: times_table(path, np.zeros(5_001)), "5001 nodes, and 5000 nodes"),
        (lambda path: _store(path, np.zeros((5_000, 2), np.int64)), "one column of int64, not 2"),
        (lambda path: _store(path, np.zeros((5_000, 1), np.int32)), "not 1 of int32"),
    ],
    ids=["fewer", "more", "columns", "dtype"],
)
def test_tables_that_are_not_times_of_the_nodes_are_refused(hub, tmp_path, make, message):
    sampling = TypedSampling(
        {"author": HUB_DEGREE, "paper": 2}, {WRITES: hub.graph}, {"author": make(tmp_path / "t.gd")}
    )
    with pytest.raises(ValueError, match=message):
        sampling.sample_neighbors(("paper", [0]), [2], time=[1])


def _store(path, table):
    gm.compile_features(table, path)
    return gm.FeatureStore(path)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        ({"time_of": "both"}, ValueError, "time_of='both'; choose one of 'edges', 'nodes'"),
        ({"time": None, "temporal_strategy": "last"}, ValueError, "needs time="),
        ({"time": None, "time_of": "nodes"}, errors.MissingDataError, "'paper' have no times"),
        ({"time": [1, 2]}, ValueError, "2 times for 1 seeds"),
        ({"time_of": "edges"}, errors.MissingDataError, "edges have no timestamps"),
        ({"temporal_strategy": "last", "weighted": True}, ValueError, "neither with weighted"),
    ],
    ids=str,
)
def test_refusals(hub, call, kind, message):
    with pytest.raises(kind, match=message):
        hub.sampling.sample_neighbors(
            **{"seeds": ("paper", [0]), "fanouts": [2], "time": [1]} | call
        )


def test_no_times_at_all_are_refused(hub):
    sampling = TypedSampling({"author": HUB_DEGREE, "paper": 2}, {WRITES: hub.graph})
    with pytest.raises(errors.MissingDataError, match="neither edges nor the nodes"):
        sampling.sample_neighbors(("paper", [0]), [2], time=[1])
