"""PyG's two neighbor loaders without pyg-lib: over edges in memory, sampled in plain NumPy.

They are what scripts get by the names of PyG's loaders where graphmount is compared with memory.
The sampler is that of the accuracy benchmark; links and their negatives are PyG's own.
"""

from __future__ import annotations

import torch
from benchmarks.jobs.in_memory_sampler import InMemorySampler
from torch_geometric.loader import LinkLoader, NodeLoader
from torch_geometric.sampler import NodeSamplerInput
from torch_geometric.sampler.neighbor_sampler import edge_sample

#: All in this process: workers would cost more than they bring.
_OF_WORKERS = ("num_workers", "persistent_workers")


class PlainSampler(InMemorySampler):
    """The sampler of the benchmark, for links as well."""

    def __init__(self, data, num_neighbors):
        self._num_nodes = data.num_nodes
        seed = int(torch.randint(2**31, ()))  # so that torch.manual_seed settles all
        super().__init__(data.edge_index.numpy(), data.num_nodes, num_neighbors, seed=seed)

    def sample_from_edges(self, inputs, neg_sampling=None):
        def sample(seed, _=None):
            return self.sample_from_nodes(NodeSamplerInput(None, seed))

        return edge_sample(inputs, sample, self._num_nodes, False, None, neg_sampling)


class NeighborLoader(NodeLoader):
    def __init__(self, data, num_neighbors, **options):
        options = {name: value for name, value in options.items() if name not in _OF_WORKERS}
        super().__init__(data, PlainSampler(data, num_neighbors), **options)


class LinkNeighborLoader(LinkLoader):
    def __init__(self, data, num_neighbors, **options):
        options = {name: value for name, value in options.items() if name not in _OF_WORKERS}
        super().__init__(data, PlainSampler(data, num_neighbors), **options)


sampler_of = PlainSampler


def LightningNodeData(data, *, num_neighbors, **options):  # noqa: N802  (it stands for the class)
    """PyG's own module, which samples in memory."""
    from torch_geometric.data import lightning

    sampler = PlainSampler(data, num_neighbors)
    return lightning.LightningNodeData(data, node_sampler=sampler, pin_memory=False, **options)
