"""Nodes cut into blocks: all of them, in order, as long as the budget allows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmount.errors import BudgetError

pytest.importorskip("torch")
from graphmount.torch.inference.node_blocks import NeighborLists, node_blocks

degrees = st.lists(st.integers(0, 9), max_size=60)


def offsets_of(degrees):
    return np.concatenate([[0], np.cumsum(degrees, dtype=np.int64)])


def blocks(degrees, most):
    lists = [NeighborLists(offsets_of(degrees), 8)]
    sizes = {"node_bytes": 8, "block_bytes": 8 * most, "memory": 48 * most}
    return list(node_blocks(len(degrees), lists, **sizes))


@given(degrees=degrees, most=st.integers(10, 40))
def test_blocks_are_as_long_as_they_can_be(degrees, most):
    expected = []
    taken = None
    for node, degree in enumerate(degrees):
        if taken is None or taken + 1 + degree > most:
            expected.append(range(node, node))
            taken = 0
        taken += 1 + degree
        expected[-1] = range(expected[-1].start, node + 1)
    assert blocks(degrees, most) == expected


def test_a_node_that_does_not_fit():
    message = r"node 2 has 12 neighbors, which take 104 B, .* may take 80 B; pass memory='625 B' or"
    with pytest.raises(BudgetError, match=message):
        blocks([1, 2, 12], 10)
    assert blocks([1, 2, 12], 13) == [range(2), range(2, 3)]


@given(
    degrees=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=40),
    sizes=st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 3)),
    most=st.integers(33, 80),
)
def test_neighbors_of_several_relations_take_what_their_rows_take(degrees, sizes, most):
    expected = []
    taken = None
    for node, counts in enumerate(degrees):
        own = sizes[2] + counts[0] * sizes[0] + counts[1] * sizes[1]
        if taken is None or taken + own > most:
            expected.append(range(node, node))
            taken = 0
        taken += own
        expected[-1] = range(expected[-1].start, node + 1)
    lists = [
        NeighborLists(offsets_of([counts[i] for counts in degrees]), sizes[i]) for i in range(2)
    ]
    found = node_blocks(len(degrees), lists, node_bytes=sizes[2], block_bytes=most, memory=most)
    assert list(found) == expected


def test_a_type_without_relations_has_blocks_too():
    options = {"node_bytes": 10, "block_bytes": 35, "memory": 35}
    assert list(node_blocks(7, [], **options)) == [range(3), range(3, 6), range(6, 7)]
    message = r"node 0 of type 'a' has 0 neighbors, which take 10 B, and a block may take 9 B"
    with pytest.raises(BudgetError, match=message):
        list(node_blocks(7, [], node_bytes=10, block_bytes=9, memory=54, of=" of type 'a'"))
