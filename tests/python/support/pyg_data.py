"""A `Data` that says of each node and edge which it is, and what batches of it must be."""

from __future__ import annotations

import torch
from torch_geometric.data import Data

NUM_NODES, NUM_EDGES = 100, 500


def make_data(seed=7, dtype=torch.int64, **more):
    """Attributes whose value is the place: `x` of nodes, and `edge_attr` of edges."""
    generator = torch.Generator().manual_seed(seed)
    ends = torch.randint(0, NUM_NODES, (2, NUM_EDGES), generator=generator)
    data = Data(
        x=torch.arange(NUM_NODES), edge_index=ends.to(dtype), edge_attr=torch.arange(NUM_EDGES)
    )
    for name, value in more.items():
        data[name] = value
    return data


def check_batch(batch, data, *, is_bidirectional=False):
    """All that a batch says is said in the ids of the `Data`."""
    assert batch.n_id.shape == (batch.num_nodes,)
    assert batch.e_id.shape == (batch.num_edges,)
    assert torch.equal(batch.x, batch.n_id)
    assert torch.equal(batch.edge_attr, batch.e_id)
    assert not hasattr(batch.n_id, "_graphmount_order")
    met, expected = batch.n_id[batch.edge_index], data.edge_index[:, batch.e_id]
    if is_bidirectional:
        assert ((met == expected) | (met.flip(0) == expected)).all()
    else:
        assert torch.equal(met, expected.long())
    for name, value in data.to_dict().items():
        if name in ("x", "edge_attr", "edge_index", "num_nodes") or not data.is_node_attr(name):
            if not data.is_edge_attr(name) or name in ("edge_attr", "edge_index"):
                continue
            assert torch.equal(batch[name], value[batch.e_id]), name
        else:
            assert torch.equal(batch[name], value[batch.n_id]), name
