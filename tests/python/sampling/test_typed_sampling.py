"""Sampling over several types: its structure, against a slow twin; threads; refusals."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from chi_squared import assert_fits, fits
from hypothesis import given
from hypothesis import strategies as st
from sampling_twin import Lists
from typed_twin import TypedTwin

import graphmount as gm
from graphmount import errors
from graphmount._dataset.typed.sampling import TypedSampling

TYPES = ("author", "paper", "venue")
RELATIONS = (
    ("author", "writes", "paper"),
    ("paper", "cites", "paper"),
    ("paper", "rev_writes", "author"),
    ("venue", "publishes", "paper"),
    ("author", "knows", "author"),
)


@st.composite
def relations_of(draw):
    """Some relations with edges, between types of these counts."""
    counts = {name: draw(st.integers(1, 8)) for name in TYPES}
    kinds = {
        "weights": draw(st.booleans()),
        "timestamps": draw(st.booleans()),
    }
    parts = {}
    for relation in draw(st.lists(st.sampled_from(RELATIONS), min_size=1, unique=True)):
        source, _, destination = relation
        edge = st.tuples(
            st.integers(0, counts[source] - 1), st.integers(0, counts[destination] - 1)
        )
        edges = draw(st.lists(edge, max_size=30))
        options = {}
        if kinds["weights"]:
            weight = st.sampled_from([0.0, 0.5, 1.0, 100.0])
            options["weights"] = draw(st.lists(weight, min_size=len(edges), max_size=len(edges)))
        # Of some relations only: the others are there at any time.
        if kinds["timestamps"] and (not parts or draw(st.booleans())):
            time = st.integers(-3, 3)
            options["timestamps"] = draw(st.lists(time, min_size=len(edges), max_size=len(edges)))
        if draw(st.booleans()):
            options["index_dtype"] = "int64"
        ends = np.array(edges, np.int64).reshape(-1, 2).T
        parts[relation] = ((ends[0].copy(), ends[1].copy()), options)
    return counts, parts


def compile_relations(folder, counts, parts):
    graphs = {}
    for number, (relation, (edges, options)) in enumerate(parts.items()):
        path = folder / f"{number}.gl"
        source, _, destination = relation
        ends = {"num_sources": counts[source], "num_destinations": counts[destination]}
        size = {"num_nodes": counts[source]} if source == destination else ends
        gm.compile_graph(edges, path, **size, **options)
        graphs[relation] = gm.Graph(path)
    return graphs


def compile_times(folder, times):
    stores = {}
    for name, own in times.items():
        path = folder / f"{name}.gd"
        gm.compile_features(np.asarray(own, np.int64).reshape(-1, 1), path)
        stores[name] = gm.FeatureStore(path)
    return stores


def neighbor_type(relation, direction):
    return relation[0] if direction == "in" else relation[2]


@given(relations_of(), st.data())
def test_structure_is_that_of_the_twin(tmp_path_factory, made, data):
    counts, parts = made
    folder = tmp_path_factory.mktemp("graphs")
    graphs = compile_relations(folder, counts, parts)
    node_times = {
        name: data.draw(st.lists(st.integers(-3, 3), min_size=counts[name], max_size=counts[name]))
        for name in data.draw(st.sets(st.sampled_from(TYPES)))
    }
    sampling = TypedSampling(counts, graphs, compile_times(folder, node_times))
    seeds = {
        name: data.draw(st.lists(st.integers(0, counts[name] - 1), max_size=5))
        for name in data.draw(st.lists(st.sampled_from(TYPES), min_size=1, unique=True))
    }
    num_hops = data.draw(st.integers(0, 3))
    fanout = st.lists(st.sampled_from([-1, 0, 1, 2, 20]), min_size=num_hops, max_size=num_hops)
    fanouts = {relation: data.draw(fanout) for relation in graphs}
    direction = data.draw(st.sampled_from(["in", "out"]))
    time_of = data.draw(st.sampled_from(["edges", "nodes"]))
    timed = {
        relation: neighbor_type(relation, direction) in node_times
        if time_of == "nodes"
        else graph.has_timestamps
        for relation, graph in graphs.items()
    }
    times = None
    if any(timed.values()) and data.draw(st.booleans()):
        times = {
            name: data.draw(st.lists(st.integers(-4, 4), min_size=len(own), max_size=len(own)))
            for name, own in seeds.items()
        }
    last = times is not None and data.draw(st.booleans())
    has_weights = all(graph.has_weights for graph in graphs.values())
    rule = {
        "replace": not last and data.draw(st.booleans()),
        "weighted": not last and has_weights and data.draw(st.booleans()),
    }
    disjoint = times is not None or data.draw(st.booleans())
    draw = partial(
        sampling.sample_neighbors,
        seeds,
        fanouts,
        **rule,
        disjoint=disjoint,
        time=times,
        time_of=None if times is None else time_of,
        temporal_strategy="last" if last else "uniform",
        direction=direction,
        seed=data.draw(st.integers(0, 2**64 - 1)),
    )
    sample = draw()
    lists = {relation: Lists(graph, direction) for relation, graph in graphs.items()}
    if time_of == "nodes":
        for relation, of_relation in lists.items():
            if timed[relation]:
                of_relation.by_neighbor_times(node_times[neighbor_type(relation, direction)])
    by_tree = None if times is None else [t for name in TYPES for t in times.get(name, [])]
    twin = TypedTwin(lists, direction, TYPES, seeds, by_tree, disjoint=disjoint)
    drawn = {relation: ids.tolist() for relation, ids in sample.edge_ids.items()}
    twin.replay(fanouts, drawn, timed=timed, last=last, **rule)
    check(sample, twin, disjoint=disjoint)
    whole = draw(subgraph_type="induced")
    for relation, ends in whole.edge_index.items():
        near, far = ends if direction == "in" else ends[::-1]
        ids = whole.edge_ids[relation].tolist()
        found = sorted(zip(near.tolist(), far.tolist(), ids, strict=True))
        assert found == twin.induced(relation)
    check_bidirectional(draw, sample)


def check(sample, twin, *, disjoint):
    assert {name: own.tolist() for name, own in sample.nodes.items()} == twin.nodes
    for relation, ends in sample.edge_index.items():
        assert ends.tolist() == twin.edge_index(relation)
        assert sample.num_sampled_edges[relation] == tuple(twin.num_edges[relation])
        if sample.indptr is not None:
            starts = sample.indptr[relation]
            of_target = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
            np.testing.assert_array_equal(of_target, ends[1])
    assert sample.num_sampled_nodes == {n: tuple(found) for n, found in twin.num_nodes.items()}
    if disjoint:
        assert {name: own.tolist() for name, own in sample.batch.items()} == twin.trees
    else:
        assert sample.batch is None


def check_bidirectional(draw, sample):
    pairs = {
        relation: set(zip(*ends.tolist(), strict=True))
        for relation, ends in sample.edge_index.items()
    }
    back = {("author", "writes", "paper"): ("paper", "rev_writes", "author")}
    back |= {two: one for one, two in back.items()}
    lonely = [r for r in pairs if r[0] != r[2] and back.get(r) not in pairs]
    if lonely:
        with pytest.raises(ValueError, match="has no reverse"):
            draw(subgraph_type="bidirectional")
        return
    both = draw(subgraph_type="bidirectional")
    for relation, ends in both.edge_index.items():
        other = pairs[back.get(relation, relation)]
        expected = pairs[relation] | {(b, a) for a, b in other}
        assert sorted(expected, key=lambda pair: pair[::-1]) == list(
            zip(*ends.tolist(), strict=True)
        )


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Five relations between three types of different sizes, with weights and times."""
    generator = np.random.default_rng(1)
    counts = {"author": 9_000, "paper": 20_000, "venue": 50}
    parts = {}
    for relation in RELATIONS:
        largest = np.array([[counts[relation[0]]], [counts[relation[2]]]])
        edges = (largest * generator.random((2, 100_000)) ** 3).astype(np.int64)
        options = {
            "weights": generator.choice([0.0, 1.0, 3.0], 100_000).astype(np.float32),
            "timestamps": generator.integers(0, 100, 100_000),
        }
        parts[relation] = ((edges[0].copy(), edges[1].copy()), options)
    return counts, compile_relations(tmp_path_factory.mktemp("large"), counts, parts)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"replace": True},
        {"weighted": True},
        {"disjoint": True},
        {"subgraph_type": "induced"},
        {"direction": "out"},
        {"time": True},
    ],
    ids=str,
)
def test_the_same_sample_for_any_number_of_threads(large, options):
    sampling = TypedSampling(*large)
    seeds = np.random.default_rng(2).integers(0, 20_000, 400)
    if "time" in options:
        options = options | {"time": seeds % 100}
    before = gm.num_threads()
    samples = []
    try:
        for threads in (1, 2, 7):
            gm.set_num_threads(threads)
            draw = partial(sampling.sample_neighbors, ("paper", seeds), [8, 6, 4], **options)
            samples.append(draw(seed=(3, 4)))
    finally:
        gm.set_num_threads(before)
    other = draw(seed=(3, 5))
    first = samples[0]
    for sample in samples[1:]:
        for name in TYPES:
            np.testing.assert_array_equal(sample.nodes[name], first.nodes[name])
        for relation in RELATIONS:
            np.testing.assert_array_equal(sample.edge_index[relation], first.edge_index[relation])
            np.testing.assert_array_equal(sample.edge_ids[relation], first.edge_ids[relation])
    assert any(
        other.edge_ids[relation].tolist() != first.edge_ids[relation].tolist()
        for relation in RELATIONS
    )


def test_one_type_and_one_relation_is_a_graph_of_one_kind(large):
    counts, graphs = large
    graph = graphs["paper", "cites", "paper"]
    alone = TypedSampling({"paper": counts["paper"]}, {("paper", "cites", "paper"): graph})
    seeds = np.arange(500)
    for options in ({}, {"disjoint": True}, {"weighted": True, "replace": True}):
        typed = alone.sample_neighbors(("paper", seeds), [10, 5], seed=1, **options)
        plain = graph.sample_neighbors(seeds, [10, 5], seed=1, **options)
        np.testing.assert_array_equal(typed.nodes["paper"], plain.nodes)
        np.testing.assert_array_equal(typed.edge_index["paper", "cites", "paper"], plain.edge_index)
        np.testing.assert_array_equal(typed.edge_ids["paper", "cites", "paper"], plain.edge_ids)


def test_relations_draw_independently(large):
    """Two relations over the same edges draw different neighbors of the same node."""
    counts, graphs = large
    graph = graphs["paper", "cites", "paper"]
    relations = {("paper", name, "paper"): graph for name in ("cites", "quotes")}
    twice = TypedSampling({"paper": counts["paper"]}, relations)
    sample = twice.sample_neighbors(("paper", np.arange(2_000)), [2], seed=1)
    one, two = sample.edge_ids.values()
    assert (one == two).mean() < 0.5


@pytest.fixture(scope="module")
def stars(tmp_path_factory):
    """Every paper has 7 authors and 7 venues, the same for all."""
    papers, degree = 20_000, 7
    parts = {}
    for relation in (("author", "writes", "paper"), ("venue", "publishes", "paper")):
        edges = (np.tile(np.arange(degree), papers), np.repeat(np.arange(papers), degree))
        weights = np.tile(np.arange(1, degree + 1), papers).astype(np.float32)
        parts[relation] = (edges, {"weights": weights})
    counts = {"author": degree, "paper": papers, "venue": degree}
    return counts, compile_relations(tmp_path_factory.mktemp("stars"), counts, parts)


@pytest.mark.parametrize("weighted", [False, True])
def test_picks_are_distributed_as_they_should_be(stars, weighted):
    """In each relation by weight, and independently of the other relation and of other nodes."""
    counts, _ = stars
    probability = np.arange(1, 8) / 28 if weighted else np.full(7, 1 / 7)
    sample = TypedSampling(*stars).sample_neighbors(
        ("paper", np.arange(counts["paper"])), [1], weighted=weighted, seed=5
    )
    drawn = [sample.nodes[relation[0]][ends[0]] for relation, ends in sample.edge_index.items()]
    for picks in drawn:
        assert_fits(np.bincount(picks, minlength=7), probability)
        pairs = np.bincount(picks[:-1] * 7 + picks[1:], minlength=49)
        assert_fits(pairs, np.outer(probability, probability).ravel())
    joint = np.bincount(drawn[0] * 7 + drawn[1], minlength=49)
    assert_fits(joint, np.outer(probability, probability).ravel())
    # The test itself: a sampler that favors the first neighbor a little, and one that draws the
    # same place in both relations, do not fit.
    biased = np.where(np.arange(len(drawn[0])) % 50 == 0, 0, drawn[0])
    assert not fits(np.bincount(biased, minlength=7), probability)
    same = np.bincount(drawn[0] * 7 + drawn[0], minlength=49)
    assert not fits(same, np.outer(probability, probability).ravel())


def test_walks_go_from_type_to_type(large):
    counts, graphs = large
    path = [("author", "writes", "paper"), ("paper", "cites", "paper")]
    path += [("paper", "rev_writes", "author")]
    walks = TypedSampling(*large).random_walk(np.arange(counts["author"]), path, seed=1)
    assert walks.shape == (counts["author"], 4)
    for step, relation in enumerate(path):
        here, there = walks[:, step], walks[:, step + 1]
        gone = (here >= 0) & (there >= 0)
        assert graphs[relation].has_edge(here[gone], there[gone]).all()
        dead = (here >= 0) & (there < 0)
        assert (graphs[relation].degree(here[dead], direction="out") == 0).all()
        assert (there[here < 0] == -1).all()
    np.testing.assert_array_equal(
        walks, TypedSampling(*large).random_walk(np.arange(counts["author"]), path, seed=1)
    )


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        ({"seeds": ("papers", [0])}, ValueError, "no node type 'papers'; there are 'author'"),
        ({"seeds": [0]}, TypeError, "a type and its nodes"),
        ({"seeds": {("paper",): [0]}}, ValueError, "no node type"),
        ({"seeds": ("venue", [50])}, errors.IdError, "50"),
        ({"fanouts": {}}, ValueError, "no entry for"),
        ({"fanouts": {("a", "b", "c"): [1]}}, ValueError, "no relation"),
        ({"fanouts": {RELATIONS[0]: [1]}}, ValueError, "no entry for .*'cites'.*or 'default'"),
        ({"fanouts": {"writes": [1], "default": [1]}}, ValueError, "no relation 'writes'"),
        ({"fanouts": {RELATIONS[0]: [1, 2], "default": [1]}}, ValueError, "number of hops"),
        ({"fanouts": {"default": 3}}, TypeError, r"fanouts\['default'\] has a number for each hop"),
        ({"fanouts": {"default": [-2]}}, ValueError, r"fanouts\['default'\]"),
        ({"fanouts": 5}, TypeError, "for each hop"),
        ({"time": [1]}, ValueError, "1 times for 2 seeds"),
        ({"time": {"venue": [1]}}, ValueError, "times for"),
        ({"temporal_strategy": "last"}, ValueError, "needs time="),
        ({"subgraph_type": "bidirectional"}, ValueError, "has no reverse"),
    ],
    ids=str,
)
def test_refusals(large, call, kind, message):
    given = {"seeds": ("paper", [0, 1]), "fanouts": [2], **call}
    with pytest.raises(kind, match=message):
        TypedSampling(*large).sample_neighbors(**given)


def test_fanouts_of_relations_that_are_not_named(large):
    sampling = TypedSampling(*large)
    named = {RELATIONS[0]: [3, 2], RELATIONS[3]: [0, 0]}
    all_named = {relation: named.get(relation, [1, 4]) for relation in RELATIONS}
    expected = sampling.sample_neighbors(("paper", np.arange(40)), all_named, seed=1)
    found = sampling.sample_neighbors(("paper", np.arange(40)), named | {"default": [1, 4]}, seed=1)
    assert expected.num_sampled_edges[RELATIONS[3]] == (0, 0)
    for relation in RELATIONS:
        np.testing.assert_array_equal(found.edge_ids[relation], expected.edge_ids[relation])


def test_unequal_numbers_of_hops_are_refused(large):
    fanouts = {relation: [2, 2] for relation in RELATIONS} | {RELATIONS[1]: [2]}
    with pytest.raises(ValueError, match="hops must be the same across all"):
        TypedSampling(*large).sample_neighbors(("paper", [0]), fanouts)


def test_walks_that_do_not_join_are_refused(large):
    path = [("author", "writes", "paper"), ("author", "knows", "author")]
    with pytest.raises(ValueError, match="does not begin there"):
        TypedSampling(*large).random_walk([0], path)


def test_graphs_of_other_counts_are_refused(large):
    counts, graphs = large
    with pytest.raises(ValueError, match="is of another dataset"):
        TypedSampling(counts | {"venue": 51}, graphs).sample_neighbors(("paper", [0]), [2])
