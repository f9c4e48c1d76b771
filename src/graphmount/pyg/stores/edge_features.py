"""Edge features for PyG's loaders, which do not fetch them from stores: a transform that does.

A batch knows the ids of its edges, and the tables of a dataset's edges are in the order of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from graphmount._dataset.dataset import Dataset
from graphmount._dataset.typed_dataset import TypedDataset
from graphmount._mount.mapped_reads import gather_list_values
from graphmount._support.arguments import as_ids, as_list, require_choice, require_type
from graphmount._support.display import one_line
from graphmount._support.shown import shown
from graphmount.errors import MissingDataError
from graphmount.pyg.stores.batch_names import require_free_names
from graphmount.torch import gather

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from torch_geometric.data import Data, HeteroData

    from graphmount._dataset.typed.results import EdgeType
    from graphmount._mount.features import FeatureStore
    from graphmount._mount.graph import Graph


class EdgeFeatures:
    """A `transform=` that adds tables of edges, and weights, to the batches of PyG's loaders.

    It pickles by path.

    Args:
        dataset: The dataset that the batches come from.
        features: The names of the edge tables to add; all tables if None. Of many kinds, each
            relation gets those that it has.
        weights: Whether to add the weights of the edges, as `edge_weight`, where there are any.

    Examples:
        >>> import torch
        >>> from torch_geometric.loader import NodeLoader
        >>> import graphmount as gm
        >>> import graphmount.pyg
        >>> edges = gm.EdgeTable(source=([1, 2], [0, 0]), weights=[0.5, 2.0])
        >>> _ = gm.compile_dataset("pair", edges=edges, order="given")
        >>> ds = gm.Dataset("pair")
        >>> loader = NodeLoader(
        ...     ds.to_pyg(), gm.pyg.NeighborSampler(ds, [-1]), torch.tensor([0]),
        ...     transform=gm.pyg.EdgeFeatures(ds, weights=True),
        ... )
        >>> next(iter(loader)).edge_weight
        tensor([0.5000, 2.0000])
    """

    def __init__(
        self,
        dataset: Dataset | TypedDataset,
        features: Iterable[str] | None = None,
        *,
        weights: bool = False,
    ) -> None:
        require_choice("weights", weights, (False, True))
        relations = _relations_of(dataset)
        known = sorted({name for _, tables in relations.values() for name in tables})
        names = known
        if features is not None:
            names = as_list(features, "features", "names of tables")
        for name in names:
            if not isinstance(name, str) or name not in known:
                raise ValueError(
                    f"features: there is no table of edges {shown(name)} in {dataset.path}; there "
                    f"are {known}"
                )
        require_free_names(names, advice="leave it out by features=")
        if weights and "edge_weight" in names:
            raise ValueError(
                f"{dataset.path}: 'edge_weight' is the name of a table and of the weights; leave "
                "the table out by features=, or the weights by weights=False"
            )
        if weights and not any(graph.has_weights for graph, _ in relations.values()):
            raise MissingDataError(f"{dataset.path} has no weights; compile it with weights=")
        self._dataset = dataset
        self._names = names
        self._weights = weights

    def __repr__(self) -> str:
        return one_line(
            f"<EdgeFeatures of {self._dataset.path!r}: {self._names}, weights={self._weights}>"
        )

    def __call__(self, data: Data | HeteroData) -> Data | HeteroData:
        """Adds the rows of a batch's edges to it."""
        for relation, (graph, tables) in _relations_of(self._dataset).items():
            edges: Any = data if relation is None else data[relation]
            ids: Any = edges.e_id
            for name in self._names:
                if name in tables:
                    edges[name] = gather(tables[name], ids)
            if self._weights and graph.has_weights:
                weights = gather_list_values(
                    graph, "weights", graph.directions[0], as_ids(ids.numpy(), "e_id")
                )
                edges.edge_weight = torch.from_numpy(weights)
        return data


def _relations_of(
    dataset: Any,  # noqa: ANN401  (of one kind or of many)
) -> dict[EdgeType | None, tuple[Graph, Mapping[str, FeatureStore]]]:
    """The graph and the tables of each relation; of a dataset of one type, under None."""
    if isinstance(dataset, TypedDataset):
        return {name: (edges.graph, edges.features) for name, edges in dataset.edges.items()}
    require_type("dataset", dataset, Dataset, "a Dataset")
    return {None: (dataset.graph, dataset.edge_features)}
