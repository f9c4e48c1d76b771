"""What a batch of the core becomes: the fields of a `Batch`, by name.

Loaders of torch and PyG make their own forms of batches of the same fields.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from graphmount._mount.mapped_reads import gather_list_values
from graphmount._mount.node_ids import mark_ids
from graphmount._support.arguments import as_native

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from graphmount import _core
    from graphmount._loading.batches.aggregation import AggregateLast
    from graphmount._loading.inputs import EdgeIds, IdSpace, LoaderData
    from graphmount._loading.row_feeds import RowFeed
    from graphmount._mount.results import NeighborSample
    from graphmount._mount.sampling_rule import SamplingRule


class BatchFields(ABC):
    """A loader that makes batches. `BatchLoader` is what has these attributes."""

    _data: LoaderData
    _rule: SamplingRule
    _batch_size: int
    _edge_ids: EdgeIds
    _translates: bool
    _aggregate_last: AggregateLast | None

    @abstractmethod
    def _make_batch(self, fields: dict[str, Any]) -> Any:  # noqa: ANN401
        """A batch in the form of the loader, of the fields of a `Batch` or `LinkBatch`."""

    def _batch_fields(
        self, loaded: _core.LoadedBatch, feeds: list[RowFeed], order: NDArray[np.int64], epoch: int
    ) -> dict[str, Any]:
        """What `_make_batch` makes a batch of: arrays, by the names of a `Batch`."""
        rows: dict[IdSpace, dict[str, NDArray[Any]]] = {"nodes": {}, "edges": {}}
        aggregated: dict[str, NDArray[Any]] = {}
        for i, feed in enumerate(feeds):
            rows[feed.space][feed.name] = as_native(loaded.take_rows(i, feed.core))
            if feed.aggregates:
                aggregated[feed.name] = as_native(loaded.take_aggregated(i, feed.core))
        sample, kept = self._rule.take_sample(loaded.take_sample())
        if kept is not None:
            rows["edges"] = {name: table[kept] for name, table in rows["edges"].items()}
        first = loaded.number * self._batch_size
        places = order[first : first + self._batch_size]
        fields = self._fields(sample, rows, as_native(loaded.take_ends()), places)
        return fields | {"number": loaded.number, "epoch": epoch, "aggregated": aggregated}

    def _fields(
        self,
        sample: NeighborSample,
        rows: dict[IdSpace, dict[str, NDArray[Any]]],
        ends: NDArray[np.int64],  # noqa: ARG002  (of links)
        places: NDArray[np.int64],
    ) -> dict[str, Any]:
        """The fields of a batch, but for its place in an epoch.

        Args:
            sample: What was sampled, in the ids that batches have; but for edges, if their internal
                ids are wanted.
            rows: The rows of tables.
            ends: Of links: see `_core.SeedSource`.
            places: The places of its inputs.
        """
        graph, edge_ids = self._data.graph, sample.edge_ids
        nodes = sample.nodes
        if not self._translates:
            nodes = mark_ids(nodes, graph._own_order)  # noqa: SLF001
        if self._wants_edge_ids and self._edge_ids == "source":
            edge_ids = self._source_rows(edge_ids)
        return {
            **vars(sample),
            **self._edge_values(sample.edge_ids),
            "nodes": nodes,
            "edge_ids": edge_ids,
            "features": rows["nodes"],
            "edge_features": rows["edges"],
            "aggregate_last": self._aggregate_last,
            # Loaders that translate ids have labels as a table.
            "labels": self._data.labels_of(sample.nodes[: sample.num_seeds]),
            "input_ids": places,
            "dataset": self._data.dataset,
        }

    @property
    def _wants_edge_ids(self) -> bool:
        """Whether `_edge_values` has something for edges, by their internal ids."""
        return False

    def _edge_values(self, edge_ids: NDArray[np.int64]) -> dict[str, Any]:  # noqa: ARG002
        """More fields."""
        return {}

    def _source_rows(self, edge_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        graph = self._data.graph
        return gather_list_values(graph, "source rows", graph.directions[0], edge_ids)
