"""PyG's `LinkNeighborLoader`, over graphmount's own pipeline, with negatives that are no edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphmount.pyg.data_loader import DataLoader, feature_dtypes, open_pyg_data
from graphmount.pyg.loader_options import take_options
from graphmount.torch.loaders import LinkNeighborLoader as TensorLinkLoader

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import torch
    from numpy.typing import ArrayLike
    from torch_geometric.data import Data
    from torch_geometric.sampler import NegativeSampling

    from graphmount._dataset.dataset import Dataset
    from graphmount._loading.link_negatives import LinkNegatives
    from graphmount._mount.features import FeatureStore
    from graphmount._mount.graph import Graph
    from graphmount.torch.tensor_batch import LinkTensorBatch

__all__ = ["LinkNeighborLoader"]


class LinkNeighborLoader(DataLoader, TensorLinkLoader):
    """PyG's `LinkNeighborLoader` for mounted data: its arguments, its batches, no pyg-lib.

    Batches have what those of `graphmount.pyg.NeighborLoader` have, but for `batch_size` and
    `seed_time`; and `edge_label_index`, `edge_label` and `edge_label_time`, or for triplets
    `src_index`, `dst_pos_index`, `dst_neg_index` and `seed_time`. Negatives are no edges of the
    graph, where PyG's may be.

    Args:
        data: A `Dataset`, the path of one, a `Graph`, or (`Graph`, `FeatureStore` or dict of them).
        num_neighbors: How many neighbors to draw in each hop; -1 for all.
        edge_label_index: The links: (2, links), or (None, links). All edges if None.
        edge_label: A label for each link.
        edge_label_time: The time of each link: edges of that time or before are sampled.
        neg_sampling: PyG's `NegativeSampling`, a `graphmount.LinkNegatives`, "binary" or "triplet".
        neg_sampling_ratio: Another way to ask for so many binary negatives for each link.
        time_attr: What batches call the times of edges; they have none if None.
        weight_attr: What batches call the weights of edges. If given, sampling is weighted.
        transform: A function that is given each batch, and returns what the loop gets.
        directed: PyG's older way: False for `subgraph_type="induced"`.
        custom_cls: The class of batches, a `Data`.
        input_id: What batches have for `input_id`, for each of the links; their places if None.
        features: Names of the tables of nodes that batches have; all if None, and labels always.
        edge_features: Names of the tables of edges that batches have; all if None.
        dtype: What tables of nodes are converted to: one dtype, or a dict by their names.
        options: The other options of `graphmount.pyg.NeighborLoader`.

    Examples:
        >>> import graphmount as gm
        >>> import graphmount.pyg
        >>> _ = gm.compile_dataset("four", edges=([3, 3, 3, 1], [0, 1, 2, 2]), order="given")
        >>> loader = gm.pyg.LinkNeighborLoader("four", [2], neg_sampling="binary", batch_size=2)
        >>> next(iter(loader)).edge_label
        tensor([1., 1., 0., 0.])
    """

    def __init__(
        self,
        data: str
        | os.PathLike[str]
        | Dataset
        | Graph
        | tuple[Graph, FeatureStore | Mapping[str, FeatureStore]],
        num_neighbors: Sequence[int],
        *,
        edge_label_index: ArrayLike | torch.Tensor | tuple[Any, Any] | None = None,
        edge_label: ArrayLike | torch.Tensor | None = None,
        edge_label_time: ArrayLike | torch.Tensor | None = None,
        neg_sampling: NegativeSampling | LinkNegatives | str | Sequence[Any] | None = None,
        neg_sampling_ratio: float | None = None,
        time_attr: str | None = None,
        weight_attr: str | None = None,
        transform: Callable[[Any], Any] | None = None,
        directed: bool = True,
        custom_cls: type[Data] | None = None,
        input_id: torch.Tensor | None = None,
        features: Iterable[str] | None = None,
        edge_features: Iterable[str] | Mapping[str, FeatureStore] | None = None,
        dtype: torch.dtype | str | Mapping[str, Any] | None = None,
        **options: Any,  # noqa: ANN401
    ) -> None:
        if time_attr is not None and edge_label_time is None:
            raise ValueError(
                f"time_attr={time_attr!r} needs edge_label_time=, the time of each link"
            )
        opened = open_pyg_data(data, features, edge_features)
        left = take_options(options, directed=directed, stacklevel=3)
        TensorLinkLoader.__init__(
            self,
            opened,  # type: ignore[arg-type]  # which our own loaders take, too
            num_neighbors,
            edge_label_index=edge_label_index,
            edge_label=edge_label,
            edge_label_time=edge_label_time,
            neg_sampling=neg_sampling,
            neg_sampling_ratio=neg_sampling_ratio,
            weighted=weight_attr is not None,
            dtype=feature_dtypes(dtype, opened),
            **left,
        )
        self._set_up_data(
            weight_attr=weight_attr,
            time_attr=time_attr,
            transform=transform,
            custom_cls=custom_cls,
            input_id=input_id,
        )

    def __iter__(self) -> Iterator[Data]:
        return map(self._to_data, super().__iter__())

    def _to_data(self, batch: LinkTensorBatch) -> Any:  # noqa: ANN401
        data = self._make_data(batch)
        if batch.edge_label_index is not None:
            data.edge_label_index = batch.edge_label_index
            data.edge_label = batch.edge_label
            data.edge_label_time = batch.edge_label_time
        else:
            data.src_index = batch.src_index
            data.dst_pos_index = batch.dst_pos_index
            negatives = batch.dst_neg_index
            # PyG has a vector where there is one for each link.
            data.dst_neg_index = None if negatives is None else negatives.squeeze(-1)
            data.seed_time = batch.edge_label_time
        return self._finish(data)
