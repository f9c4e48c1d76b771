"""Nodes cut into blocks: all of them, in order, as long as the budget allows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmount.errors import BudgetError

pytest.importorskip("torch")
from graphmount.torch.inference.node_blocks import node_blocks

degrees = st.lists(st.integers(0, 9), max_size=60)


def blocks(degrees, most):
    indptr = np.concatenate([[0], np.cumsum(degrees, dtype=np.int64)])
    return list(node_blocks(indptr, entry_bytes=8, block_bytes=8 * most, memory=48 * most))


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
