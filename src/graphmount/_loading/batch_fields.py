"""What a batch of the core becomes: the fields of a `Batch`, by name.

Loaders of torch and PyG make their own forms of batches of the same fields.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from graphmount._support.arguments import as_native

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from graphmount import _core
    from graphmount._loading.batches.aggregation import AggregateLast
    from graphmount._loading.data.loader_data import AnyData, EdgeIds, Rows
    from graphmount._loading.row_feeds import RowFeed
    from graphmount._mount.sampling_rule import SamplingRule


class BatchFields(ABC):
    """A loader that makes batches. `BatchLoader` is what has these attributes."""

    _data: AnyData
    _rule: SamplingRule
    _batch_size: int
    _edge_ids: EdgeIds
    _translates: bool
    _aggregate_last: AggregateLast | None
    #: Whether batches are for layers of torch.
    _is_for_layers: bool = False

    @abstractmethod
    def _count_repeated(self, first: int, count: int) -> int:
        """How many of so many inputs of an epoch come again to fill its last batch."""

    @abstractmethod
    def _make_batch(self, fields: dict[str, Any]) -> Any:  # noqa: ANN401
        """A batch in the form of the loader, of the fields of a `Batch` or `LinkBatch`."""

    def _batch_fields(
        self, loaded: _core.LoadedBatch, feeds: list[RowFeed], order: NDArray[np.int64], epoch: int
    ) -> dict[str, Any]:
        """What `_make_batch` makes a batch of: arrays, by the names of a `Batch`."""
        rows: Rows = {space: {} for space in self._data.tables}
        aggregated: dict[str, NDArray[Any]] = {}
        for i, feed in enumerate(feeds):
            rows[feed.space][feed.name] = as_native(loaded.take_rows(i, feed.core))
            if feed.aggregates:
                aggregated[feed.name] = as_native(loaded.take_aggregated(i, feed.core))
        sample, kept = self._data.take_sample(self._rule, loaded.take_sample())
        for space, edges in kept.items():
            tables = {} if edges is None else rows.get(space, {})
            rows[space] = {name: table[edges] for name, table in tables.items()}
        first = loaded.number * self._batch_size
        places = order[first : first + self._batch_size]
        fields = self._fields(sample, rows, as_native(loaded.take_ends()), places)
        fields |= {
            "number": loaded.number,
            "epoch": epoch,
            "num_repeated": self._count_repeated(first, len(places)),
        }
        if self._turns_edges:
            turned = {
                relation: as_native(loaded.take_turned(number))
                for number, relation in enumerate(self._data.graphs)
            }
            fields["turned"] = turned if self._data.is_typed else next(iter(turned.values()))
        return fields if self._data.is_typed else fields | {"aggregated": aggregated}

    def _fields(
        self,
        sample: Any,  # noqa: ANN401
        rows: Rows,
        ends: NDArray[np.int64],  # noqa: ARG002  (of links)
        places: NDArray[np.int64],
    ) -> dict[str, Any]:
        """The fields of a batch, but for its place in an epoch.

        Args:
            sample: What was sampled, in the ids that batches have; but for edges, if their internal
                ids are wanted.
            rows: The rows of tables.
            ends: Of links: see link_seeds.hpp.
            places: The places of its inputs.
        """
        return {
            **self._data.fields(
                sample,
                rows,
                translates=self._translates,
                source_rows=self._wants_edge_ids and self._edge_ids == "source",
            ),
            **self._edge_values(sample.edge_ids),
            **({} if self._data.is_typed else {"aggregate_last": self._aggregate_last}),
            "input_ids": places,
        }

    @property
    def _turns_edges(self) -> bool:
        """Whether batches get their edges by source as well, for the way back of layers."""
        rule = self._rule
        if not self._is_for_layers:
            return False
        is_by_hop = rule.subgraph_type == "directional" and rule.direction == "in"
        return is_by_hop and len(rule.fanouts) > 0

    @property
    def _wants_edge_ids(self) -> bool:
        """Whether `_edge_values` has something for edges, by their internal ids."""
        return False

    def _edge_values(self, edge_ids: Any) -> dict[str, Any]:  # noqa: ANN401, ARG002
        """More fields."""
        return {}
