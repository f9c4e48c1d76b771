"""expected_access against sampling itself, done over and over on small graphs."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest

import graphmount as gm


def simulate(graph, seeds, num_neighbors, *, batch_size, rounds, direction="in"):
    """How often each node is in a batch."""
    generator = np.random.default_rng(0)
    lists = graph.neighbor_lists(direction)
    counts = np.zeros(graph.num_nodes)
    for _ in range(rounds):
        hop = set(generator.choice(seeds, min(batch_size, len(seeds)), replace=False).tolist())
        batch = set(hop)
        for fanout in num_neighbors:
            found = set()
            for node in hop:
                neighbors = lists.indices[lists.indptr[node] : lists.indptr[node + 1]]
                size = len(neighbors) if fanout < 0 else min(fanout, len(neighbors))
                found |= set(generator.choice(neighbors, size, replace=False).tolist())
            batch |= found
            hop = found
        counts[list(batch)] += 1
    return counts / rounds


def tree(tmp_path, num_nodes, roots):
    """Node i is in the list of one node before it; the first ones are roots."""
    generator = np.random.default_rng(5)
    children = np.arange(roots, num_nodes)
    parents = np.array([generator.integers(0, max(1, child // 3)) for child in children])
    gm.compile_graph((children, parents), tmp_path / "g.gl", num_nodes=num_nodes)
    return gm.Graph(tmp_path / "g.gl")


@pytest.mark.parametrize("fanouts", [[], [2], [3, 2], [-1, 1, 2], [4, 4, 4]])
def test_exact_where_nodes_are_in_one_list(fanouts, tmp_path):
    graph = tree(tmp_path, 60, 6)
    found = gm.expected_access(graph, range(6), fanouts, batch_size=2)
    rounds = 3000
    frequency = simulate(graph, np.arange(6), fanouts, batch_size=2, rounds=rounds)
    deviation = np.sqrt(np.maximum(found * (1 - found), 1e-12) / rounds)
    assert (np.abs(found - frequency) < 5 * deviation + 1e-9).all()


@pytest.mark.parametrize("direction", ["in", "out"])
def test_close_where_paths_meet(direction, tmp_path):
    """There, that hops are independent is an assumption, and a good one."""
    generator = np.random.default_rng(6)
    src = (generator.random(900) ** 2 * 150).astype(int)
    dst = generator.integers(0, 150, 900)
    gm.compile_graph((src, dst), tmp_path / "g.gl", num_nodes=160)
    graph = gm.Graph(tmp_path / "g.gl")
    seeds = generator.permutation(160)[:30]
    found = gm.expected_access(graph, seeds, [4, 3], batch_size=6, direction=direction)
    frequency = simulate(graph, seeds, [4, 3], batch_size=6, rounds=1500, direction=direction)
    assert np.abs(found - frequency).mean() < 0.02
    assert np.corrcoef(found, frequency)[0, 1] > 0.99
    # Whoever orders by it serves about as much from the front as by the truth.
    front = 40
    served = frequency[np.argsort(-found)[:front]].sum()
    assert served > 0.97 * np.sort(frequency)[-front:].sum()


def test_by_hand(tmp_path):
    gm.compile_graph(([1, 2, 3, 3], [0, 0, 0, 1]), tmp_path / "g.gl", num_nodes=5)
    path = tmp_path / "g.gl"
    third = 1 / 3
    assert gm.expected_access(path, [0], [1], batch_size=1) == pytest.approx(
        [1, third, third, third, 0], abs=1e-9
    )
    # Node 3 is found in the first hop, or in the second by way of node 1.
    both = 1 - (1 - third) * (1 - third)
    assert gm.expected_access(path, [0], [1, 1])[3] == pytest.approx(both)
    assert gm.expected_access(path, [0], [-1]).tolist() == pytest.approx([1, 1, 1, 1, 0])
    assert gm.expected_access(path, [4, 4, 0], [1], batch_size=1)[0] == pytest.approx(0.5)
    assert gm.expected_access(path, [], [5]).tolist() == [0] * 5
    assert gm.expected_access(path, [4], []).tolist() == pytest.approx([0, 0, 0, 0, 1])


def test_in_pieces(tmp_path, monkeypatch):
    """What lists of a few million entries at a time give is what one piece gives."""
    generator = np.random.default_rng(7)
    gm.compile_graph(generator.integers(0, 200, (2, 3000)), tmp_path / "g.gl", num_nodes=210)
    whole = gm.expected_access(tmp_path / "g.gl", range(20), [5, 5])
    # The function has taken the name of the module in the package.
    module = sys.modules["graphmount._compile.expected_access"]
    for size in (1, 7, 1000):
        monkeypatch.setattr(module, "_EDGES_AT_ONCE", size)
        parts = gm.expected_access(tmp_path / "g.gl", range(20), [5, 5])
        assert parts == pytest.approx(whole)


def test_no_nodes(tmp_path):
    gm.compile_graph(([], []), tmp_path / "g.gl", num_nodes=0)
    assert gm.expected_access(tmp_path / "g.gl", [], [3]).tolist() == []


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (([3], [1]), {}, gm.errors.IdError, "seed 3 does not exist: there are 3 nodes"),
        (([-1, 1], [1]), {}, gm.errors.IdError, "seed -1 does not exist"),
        (([0.5], [1]), {}, TypeError, "seeds must be integers"),
        (([0], [0]), {}, ValueError, "num_neighbors (-1 for all) must be at least 1"),
        (([0], [2, -2]), {}, ValueError, "num_neighbors (-1 for all) must be at least 1"),
        (([0], [1.5]), {}, TypeError, "num_neighbors (-1 for all) must be one integer"),
        (([0], [1]), {"batch_size": 0}, ValueError, "batch_size must be at least 1"),
        (([0], [1]), {"direction": "out"}, gm.errors.MissingDataError, "out"),
    ],
)
def test_refusals(arguments, options, error, message, tmp_path):
    gm.compile_graph(([0, 1], [1, 2]), tmp_path / "g.gl", neighbors="in")
    with pytest.raises(error, match=re.escape(message)):
        gm.expected_access(tmp_path / "g.gl", *arguments, **options)
