"""What type checkers know of the batches of this package.

They are PyG's `Data`, or a class of it that was asked for. PyG comes without types, so these say
what a batch has; other tables are there by their names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch_geometric.data import Data

if TYPE_CHECKING:
    import torch

    from graphmount.torch.batches.layer_matrices import LayerMatrices

    class _Sampled(Data):
        x: torch.Tensor
        x_aggregated: torch.Tensor
        y: torch.Tensor
        edge_index: torch.Tensor
        adjs: LayerMatrices
        edge_attr: torch.Tensor
        edge_weight: torch.Tensor
        n_id: torch.Tensor
        e_id: torch.Tensor
        input_id: torch.Tensor
        batch: torch.Tensor | None
        num_nodes: int
        num_sampled_nodes: list[int] | None
        num_sampled_edges: list[int] | None
        seed_time: torch.Tensor | None

    class NodeData(_Sampled):
        """A batch of `graphmount.pyg.NeighborLoader`."""

        batch_size: int

    class LinkData(_Sampled):
        """A batch of `graphmount.pyg.LinkNeighborLoader`."""

        edge_label_index: torch.Tensor
        edge_label: torch.Tensor
        edge_label_time: torch.Tensor
        src_index: torch.Tensor
        dst_pos_index: torch.Tensor
        dst_neg_index: torch.Tensor

else:
    NodeData = LinkData = Data
