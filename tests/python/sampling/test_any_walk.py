"""Any graph, any options, any number of threads: every step is true, and rows stand alone."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import walk_reference as twin
from hypothesis import given
from hypothesis import strategies as st

import graphmount as gm


@st.composite
def walk_cases(draw):
    num_nodes = draw(st.integers(1, 12))
    nodes = st.integers(0, num_nodes - 1)
    edges = draw(st.lists(st.tuples(nodes, nodes), max_size=40))
    bias = st.sampled_from([0.1, 0.5, 1.0, 2.0, 30.0])
    options = draw(
        st.fixed_dictionaries(
            {
                "p": bias,
                "q": bias,
                "restart": st.sampled_from([0.0, 0.0, 0.3, 1.0]),
                "weighted": st.booleans(),
                "dead_end": st.sampled_from(["stay", "end"]),
                "direction": st.sampled_from(["in", "out"]),
                "seed": st.integers(0, 2**64 - 1) | st.tuples(st.integers(0, 5), st.integers(0, 5)),
            }
        )
    )
    compile_options = {
        "directed": draw(st.booleans()),
        "weights": np.array(
            draw(st.lists(st.sampled_from([0.0, 0.5, 7.0]), min_size=40, max_size=40))
        )[: len(edges)],
        "index_dtype": draw(st.sampled_from([None, "int64"])),
    }
    if draw(st.booleans()):
        compile_options["timestamps"] = np.arange(len(edges)) * 7 % 5
    starts = draw(st.lists(nodes, max_size=200))
    return num_nodes, edges, compile_options, starts, draw(st.integers(0, 12)), options


@given(case=walk_cases())
def test_any_walk_takes_true_steps_only(case, tmp_path):
    num_nodes, edges, compile_options, starts, length, options = case
    path = tmp_path / "g.gl"
    columns = np.array(edges, np.int64).reshape(-1, 2).T
    gm.compile_graph(tuple(columns), path, num_nodes=num_nodes, **compile_options)
    graph = gm.Graph(path)
    walks = graph.random_walk(starts, length, **options)
    assert walks.dtype == np.int64
    assert walks.shape == (len(starts), length + 1)
    assert walks[:, 0].tolist() == starts
    entries = twin.entries_of(graph, options["direction"], weighted=options["weighted"])
    neighbors = [{node for node, weight in found if weight > 0} for found in entries]
    for row in walks.tolist():
        for node, after in pairwise(row):
            if node == -1 or after == -1:
                assert after == -1
                assert options["dead_end"] == "end"
                assert node == -1 or not neighbors[node]
            elif after == row[0] and options["restart"] > 0:
                continue
            elif not neighbors[node]:
                assert after == node
                assert options["dead_end"] == "stay"
            else:
                assert after in neighbors[node]
    # A row does not depend on the others, and pairs and visits are those of the rows.
    for some in (1, len(starts) // 2):
        assert np.array_equal(graph.random_walk(starts[:some], length, **options), walks[:some])
    if options["restart"] == 0:
        pairs = graph.skip_gram_pairs(starts, length, window=2, negatives=3, **options)
        found = list(zip(pairs.centers.tolist(), pairs.contexts.tolist(), strict=True))
        assert found == twin.window_pairs(walks, 2)
        assert pairs.negatives.shape == (len(found), 3)
        assert ((pairs.negatives >= 0) & (pairs.negatives < num_nodes)).all()
    visits = graph.visit_counts(starts, 3, length=length, **options)
    walks = graph.random_walk(np.repeat(np.array(starts, np.int64), 3), length, **options)
    assert twin.visits_by_start(visits) == twin.visits_of(walks, 3)


@pytest.fixture
def threads():
    """Sets the number of threads, and sets it back."""
    before = gm.num_threads()
    yield gm.set_num_threads
    gm.set_num_threads(before)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weighted": True},
        {"q": 0.5},
        {"p": 0.3, "q": 4, "weighted": True, "restart": 0.1},
        {"restart": 0.2, "dead_end": "end"},
    ],
)
def test_threads_do_not_matter(options, walk_graphs, threads):
    graph = walk_graphs["weighted"]
    starts = np.random.default_rng(12).integers(0, graph.num_nodes, 3001)
    results = []
    for count in (1, 2, 7):
        threads(count)
        pairs = graph.skip_gram_pairs(
            starts, 9, window=3, negatives=2, negative_weighting="degree", seed=3, **options
        )
        visits = graph.visit_counts(starts, 5, length=9, seed=3, **{"restart": 0.15, **options})
        results.append(
            [
                graph.random_walk(starts, 9, seed=3, **options),
                *vars(pairs).values(),
                *vars(visits).values(),
            ]
        )
    for other in results[1:]:
        for left, right in zip(results[0], other, strict=True):
            assert np.array_equal(left, right)
