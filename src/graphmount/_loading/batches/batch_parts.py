"""What batches of arrays and of tensors have in common: counts, `x` and `y`, and how they show."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from graphmount._mount.results import Ids, SampleParts
from graphmount._support.display import brief, one_line
from graphmount._support.shown import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from graphmount._dataset.dataset import Dataset

#: Rows of tables.
Values = TypeVar("Values")


def external_ids(
    dataset: Dataset | None, nodes: NDArray[np.int64]
) -> NDArray[np.int64] | list[str]:
    """What the source of a dataset calls the nodes of a batch.

    Args:
        dataset: The dataset of the loader, if it has one.
        nodes: The nodes.

    Raises:
        ValueError: There is no dataset.
    """
    if dataset is None:
        raise ValueError("the loader was not made of a Dataset, which would know external ids")
    return dataset.to_external(nodes)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class BatchParts(SampleParts[Ids], Generic[Ids, Values]):
    """A batch, of whatever its fields are made: see `Batch`."""

    features: Mapping[str, Values]
    edge_features: Mapping[str, Values]
    labels: Values | None
    input_ids: Ids
    number: int
    epoch: int
    dataset: Dataset | None = None
    num_repeated: int = 0
    aggregated: Mapping[str, Values] = field(default_factory=dict)
    aggregate_last: Literal["mean", "sum"] | None = None

    @property
    def batch_size(self) -> int:
        """How many of the nodes, at the front, are seeds: PyG's name for `num_seeds`."""
        return self.num_sampled_nodes[0]

    @property
    def x(self) -> Values:
        """The rows of the table called "x", or of the only table of nodes.

        Raises:
            AttributeError: There is no table, or there are several and none is called "x".
        """
        if "x" in self.features:
            return self.features["x"]
        if len(self.features) == 1:
            return next(iter(self.features.values()))
        there = f"has the tables {shown(sorted(self.features))}" if self.features else "has none"
        raise AttributeError(
            f"x is the table called 'x', or the only table of nodes, and this batch {there}; take "
            "one from batch.features by its name"
        )

    @property
    def y(self) -> Values | None:
        """The labels of the seeds, as in `labels`; None if the dataset has none."""
        return self.labels

    def __repr__(self) -> str:
        tables = "".join(f", {name} {brief(rows)}" for name, rows in self.features.items())
        return one_line(
            f"<{type(self).__name__} {self.number} of epoch {self.epoch}: {self.num_seeds:,} seeds,"
            f" {self.num_nodes:,} nodes, {self.num_edges:,} edges{tables}>"
        )


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LinkParts(Generic[Ids, Values]):
    """What batches of links have beside, of one kind or of many: see `LinkBatch`."""

    input_ids: Ids
    edge_label_index: Ids | None
    edge_label: Values | None
    edge_label_time: Ids | None
    src_index: Ids | None
    dst_pos_index: Ids | None
    dst_neg_index: Ids | None

    @property
    def num_links(self) -> int:
        """How many links there are, without negatives."""
        return len(self.input_ids)
