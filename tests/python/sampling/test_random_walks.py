"""Random walks against exact probabilities."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import walk_reference as twin
from chi_squared import assert_fits, fits

import graphmount as gm

NUM_WALKS = 40_000
BIASES = [(1.0, 0.5), (0.25, 4.0), (4.0, 0.25), (1.0, 3.0), (0.01, 1.0), (20.0, 30.0)]


WEIGHTED = ["weighted", "undirected, weighted", "temporal", "wide"]
CASES = [("directed", False), ("undirected", False), ("temporal", False), ("wide", False)] + [
    (name, True) for name in WEIGHTED
]


def check_steps(graph, walks, *, weighted, direction, p=1.0, q=1.0, check=assert_fits):
    """Compares every step taken with its exact probability, given the two nodes before."""
    entries = twin.entries_of(graph, direction, weighted=weighted)
    verdicts = []
    for node in range(graph.num_nodes):
        taken = walks[walks[:, 0] == node, 1]
        exact = twin.step_probabilities(entries, node)
        if len(taken) and exact.any():
            verdicts.append(check(np.bincount(taken, minlength=len(exact)), exact))
    sources, nodes, afters = (walks[:, i : walks.shape[1] - 2 + i].ravel() for i in range(3))
    for before, node in np.unique(np.stack([sources, nodes], axis=1), axis=0).tolist():
        if node < 0:
            continue
        taken = afters[(sources == before) & (nodes == node)]
        exact = twin.step_probabilities(entries, node, before, p=p, q=q)
        if exact.any():
            verdicts.append(check(np.bincount(taken, minlength=len(exact)), exact))
    return verdicts


@pytest.mark.parametrize("direction", ["in", "out"])
@pytest.mark.parametrize(("name", "weighted"), CASES)
def test_first_order_steps(name, weighted, direction, walk_graphs):
    graph = walk_graphs[name]
    starts = np.arange(NUM_WALKS) % graph.num_nodes
    walks = graph.random_walk(starts, 3, weighted=weighted, direction=direction, seed=1)
    check_steps(graph, walks, weighted=weighted, direction=direction)


@pytest.mark.parametrize(("p", "q"), BIASES)
@pytest.mark.parametrize(("name", "weighted"), CASES)
def test_second_order_steps(name, weighted, p, q, walk_graphs):
    graph = walk_graphs[name]
    starts = np.arange(NUM_WALKS) % graph.num_nodes
    walks = graph.random_walk(starts, 4, p=p, q=q, weighted=weighted, seed=2, dead_end="end")
    check_steps(graph, walks, weighted=weighted, direction="out", p=p, q=q)


def test_second_order_steps_against_the_edges(walk_graphs):
    graph = walk_graphs["weighted"]
    starts = np.arange(NUM_WALKS) % graph.num_nodes
    walks = graph.random_walk(starts, 4, p=0.5, q=3, weighted=True, direction="in", seed=3)
    check_steps(graph, walks, weighted=True, direction="in", p=0.5, q=3)


def test_wrong_steps_do_not_pass(walk_graphs):
    """The check itself is put to the test: by other p and q, by weights, and by a little bias."""
    graph = walk_graphs["undirected, weighted"]
    starts = np.arange(NUM_WALKS) % graph.num_nodes
    walks = graph.random_walk(starts, 4, p=1, q=0.5, seed=4)
    assert all(check_steps(graph, walks, weighted=False, direction="out", q=0.5, check=fits))
    for wrong in ({"q": 0.7}, {"p": 1.5, "q": 0.5}, {}, {"q": 0.5, "weighted": True}):
        options = {"weighted": False, "direction": "out"} | wrong
        assert not all(check_steps(graph, walks, **options, check=fits))
    # A sampler that takes the first of ten neighbors two times in a hundred too often.
    generator = np.random.default_rng(5)
    fair = np.bincount(generator.integers(0, 10, NUM_WALKS), minlength=10)
    draws = generator.integers(0, 10, NUM_WALKS)
    biased = np.bincount(np.where(generator.random(NUM_WALKS) < 0.02, 0, draws), minlength=10)
    assert fits(fair, np.ones(10))
    assert not fits(biased, np.ones(10))
    with pytest.raises(AssertionError, match="p-value"):
        assert_fits(biased, np.ones(10))
    assert not fits([5, 1], [1, 0])  # what cannot be, happened


def long_lists(tmp_path, **options):
    """Two hubs with long lists, of which half is common, and a path to leave them."""
    generator = np.random.default_rng(6)
    far = 100_000
    first = generator.choice(far, 6000, replace=False) + 3
    second = np.concatenate([first[:3000], generator.choice(far, 3000, replace=False) + 3, [0]])
    src = np.concatenate([np.zeros(len(first) + 1), np.ones(len(second))]).astype(np.int64)
    dst = np.concatenate([first, [1], second])
    gm.compile_graph((src, dst), tmp_path / "g.gl", num_nodes=far + 3, **options)
    return gm.Graph(tmp_path / "g.gl"), set(first.tolist())


@pytest.mark.parametrize("temporal", [False, True])
@pytest.mark.parametrize(("p", "q"), [(1.0, 0.5), (2.0, 4.0), (1e-6, 1.0), (1e9, 1e-6), (1e9, 1e9)])
def test_long_lists(p, q, temporal, tmp_path):
    """Steps 0, 1, x: what x may be is in lists of many cache lines."""
    options = {"timestamps": np.arange(12_002)[::-1].copy()} if temporal else {}
    graph, common = long_lists(tmp_path, **options)
    # Walks from 0 that go to 1 are one in 6001; a graph of 0 -> 1 alone would have no choice.
    walks = graph.random_walk(np.zeros(1_200_000, np.int64), 2, p=p, q=q, seed=7)
    afters = walks[walks[:, 1] == 1, 2].tolist()
    assert len(afters) > 150
    entries = twin.entries_of(graph, "out", weighted=False)[1]
    kinds = [0 if node == 0 else 1 if node in common else 2 for node, _ in entries]
    weights = np.bincount(kinds, minlength=3) * [1 / p, 1.0, 1 / q]
    taken = [0 if node == 0 else 1 if node in common else 2 for node in afters]
    assert_fits(np.bincount(taken, minlength=3), weights)
    assert set(afters) <= {node for node, _ in entries}


@pytest.mark.parametrize("bias", [1e-300, 1e300])
@pytest.mark.parametrize("temporal", [False, True])
def test_no_bias_makes_a_step_endless(bias, temporal, tmp_path):
    """In a ring nothing leads back; in a clique, nothing leads away."""
    ring = np.arange(50)
    clique = np.array([(i, j) for i in range(40) for j in range(40) if i != j]).T
    for name, edges in {"ring": (ring, (ring + 1) % 50), "clique": tuple(clique)}.items():
        path = tmp_path / f"{name}.gl"
        times = {"timestamps": np.arange(len(edges[0]))} if temporal else {}
        gm.compile_graph(edges, path, **times, weights=np.full(len(edges[0]), 3e38))
        graph = gm.Graph(path)
        for options in ({"p": bias}, {"q": bias}, {"p": bias, "q": bias}):
            for weighted in (False, True):
                walks = graph.random_walk(range(40), 30, **options, weighted=weighted, seed=8)
                entries = twin.entries_of(graph, "out", weighted=False)
                neighbors = [{node for node, _ in found} for found in entries]
                assert all(b in neighbors[a] for row in walks.tolist() for a, b in pairwise(row))


@pytest.mark.parametrize("restart", [0.0, 0.2, 0.7, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_restarts(restart, weighted, walk_graphs):
    """The distribution at each step is that of the chain; walks are independent of each other."""
    graph = walk_graphs["weighted"]
    entries = twin.entries_of(graph, "out", weighted=weighted)
    for start in (0, 5, 16):
        walks = graph.random_walk(
            [start] * NUM_WALKS, 6, restart=restart, weighted=weighted, seed=(9, start)
        )
        exact = twin.walk_distributions(entries, start, 6, restart=restart)
        for step in range(7):
            assert_fits(np.bincount(walks[:, step], minlength=graph.num_nodes), exact[step])


def test_a_restart_forgets_the_node_before(tmp_path):
    """0 <-> 1 -> 2, 3: after a restart at 1, the step back is as likely as any."""
    gm.compile_graph(([0, 1, 1, 1, 2, 3], [1, 0, 2, 3, 1, 1]), tmp_path / "g.gl")
    walks = gm.Graph(tmp_path / "g.gl").random_walk([1] * NUM_WALKS, 3, p=1e9, restart=0.5, seed=10)
    # 1, x, 1, y: the second 1 is by restart, for sure only if x is 1 itself.
    after = walks[(walks[:, 1] == 1) & (walks[:, 2] != 1), 2]
    assert_fits(np.bincount(after, minlength=4), [1, 0, 1, 1])
    # Half of 1, x, 1 came back by restart and half by the only edge: y = x is half as likely.
    rows = walks[(walks[:, 1] != 1) & (walks[:, 2] == 1) & (walks[:, 3] != 1)]
    assert_fits([np.sum(rows[:, 3] == rows[:, 1]), np.sum(rows[:, 3] != rows[:, 1])], [1, 5])


def test_dead_ends(tmp_path):
    gm.compile_graph(([0, 1], [1, 2]), tmp_path / "g.gl", weights=[1.0, 0.0], num_nodes=4)
    graph = gm.Graph(tmp_path / "g.gl")
    for options in ({}, {"p": 0.5, "q": 3.0}):
        stay = graph.random_walk([0, 3], 4, **options)
        assert stay.tolist() == [[0, 1, 2, 2, 2], [3, 3, 3, 3, 3]]
        end = graph.random_walk([0, 3], 4, dead_end="end", **options)
        assert end.tolist() == [[0, 1, 2, -1, -1], [3, -1, -1, -1, -1]]
        # A list whose weights are all 0 is a dead end to those who look at weights.
        end = graph.random_walk([0, 1], 3, weighted=True, dead_end="end", **options)
        assert end.tolist() == [[0, 1, -1, -1], [1, -1, -1, -1]]
        stay = graph.random_walk([0], 3, weighted=True, **options)
        assert stay.tolist() == [[0, 1, 1, 1]]
        # A restart frees who stays, and not who has ended.
        freed = graph.random_walk([0] * 500, 40, restart=0.3, **options, seed=1)
        assert (freed[:, 3:] == 0).any(axis=1).all()
        ended = graph.random_walk([0] * 500, 40, restart=0.1, dead_end="end", **options, seed=1)
        assert (np.diff((ended < 0).astype(int), axis=1) >= 0).all()
        assert (ended[:, -1] < 0).mean() > 0.9
        assert set(ended[:, 1].tolist()) == {0, 1}


def test_a_walk_does_not_depend_on_other_walks(walk_graphs):
    graph = walk_graphs["undirected, weighted"]
    starts = np.random.default_rng(13).integers(0, graph.num_nodes, 300)
    for options in ({}, {"weighted": True, "restart": 0.1}, {"p": 3, "q": 0.2}):
        walks = graph.random_walk(starts, 7, seed=4, **options)
        for i in (0, 1, 63, 64, 65, 200, 299):
            assert np.array_equal(
                graph.random_walk(starts[: i + 1], 7, seed=4, **options)[i], walks[i]
            )
        # The first steps of a longer walk are those of a shorter one.
        assert np.array_equal(graph.random_walk(starts, 3, seed=4, **options), walks[:, :4])


def test_seeds(walk_graphs):
    graph = walk_graphs["undirected"]
    starts = np.arange(17).repeat(20)
    walks = graph.random_walk(starts, 10, seed=1)
    assert np.array_equal(graph.random_walk(starts, 10, seed=(1,)), walks)
    for other in (2, (1, 0), (1, 1), (0, 1)):
        assert not np.array_equal(graph.random_walk(starts, 10, seed=other), walks)
    assert not np.array_equal(graph.random_walk(starts, 10), graph.random_walk(starts, 10))
    # p and q of 1 are a uniform walk.
    assert np.array_equal(graph.random_walk(starts, 10, p=1, q=1, seed=1), walks)


def test_no_steps_and_no_starts(walk_graphs):
    for graph in walk_graphs.values():
        for options in ({}, {"q": 0.5}):
            assert graph.random_walk([], 5, **options).shape == (0, 6)
            assert graph.random_walk([3, 3, 1], 0, **options).tolist() == [[3], [3], [1]]
            assert graph.random_walk(np.zeros(0, np.int32), 0, **options).shape == (0, 1)
