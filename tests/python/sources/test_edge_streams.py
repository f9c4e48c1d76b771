"""The graphs of the benchmarks are what docs/benchmarks.md says of them."""

import numpy as np
import pytest
from run_mode import MEMCAP

pytestmark = pytest.mark.skipif(not MEMCAP.exists(), reason="no benchmarks here (not a clone)")


@pytest.mark.parametrize("scale", [10, 17])
def test_communities(scale):
    from benchmarks.data.edge_streams import Communities, community_blocks

    num_nodes = 1 << scale
    count = 16 * num_nodes
    edges = np.concatenate(list(community_blocks(count, num_nodes)))
    assert edges.shape == (count, 2)
    assert edges.min() == 0
    assert edges.max() == num_nodes - 1
    src, dst = edges.T
    # Every edge runs both ways.
    forth, back = src * num_nodes + dst, dst * num_nodes + src
    assert (np.sort(forth) == np.sort(back)).all()

    planted = Communities(count, num_nodes)
    degrees = np.bincount(dst, minlength=num_nodes)
    assert (degrees[planted.ids] == planted.degrees).all()
    others = np.bincount(dst[src != dst], minlength=num_nodes)
    assert others.min() > 0, "a node without a neighbor"
    homes = planted.by_id()
    assert abs((homes[src] == homes[dst]).mean() - 0.8) < (0.05 if scale == 10 else 0.02)
    sizes = np.bincount(homes)
    assert sizes[:-1].min() >= 50, "only the last may be cut off"
    assert sizes.max() <= 5000
    # Who is in a community has room for its neighbors there.
    assert (0.8 * degrees <= sizes[homes] - 1).mean() > 0.999

    # Half of the edges belong to a sixth of the nodes or so: skewed, but not by much.
    share = np.sort(degrees)[::-1].cumsum() / count
    assert 0.1 < np.searchsorted(share, 0.5) / num_nodes < 0.25
    # Ids do not tell who belongs together.
    assert abs((homes[1:] == homes[:-1]).mean() - ((sizes / num_nodes) ** 2).sum()) < 0.02


def test_communities_are_the_same_every_time():
    from benchmarks.data.edge_streams import community_blocks

    one, other = (np.concatenate(list(community_blocks(4096, 512))) for _ in range(2))
    assert (one == other).all()


def test_communities_need_an_even_number_of_edges():
    from benchmarks.data.edge_streams import community_blocks

    for count in (1025, 510):
        with pytest.raises(ValueError, match=f"even, and at least as many as nodes, not {count}"):
            next(community_blocks(count, 512))
