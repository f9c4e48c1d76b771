"""What batches of arrays and of tensors have in common: counts, `x` and `y`, and how they show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphmount._support.display import Displayed, brief, one_line
from graphmount._support.shown import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from graphmount._dataset.dataset import Dataset


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


class BatchParts(Displayed):
    """A batch, of whatever its fields are made."""

    nodes: Any
    edge_ids: Any
    features: Mapping[str, Any]
    labels: Any
    num_sampled_nodes: tuple[int, ...]
    number: int
    epoch: int

    @property
    def batch_size(self) -> int:
        """How many of the nodes, at the front, are seeds: PyG's name for `num_seeds`."""
        return self.num_sampled_nodes[0]

    @property
    def num_seeds(self) -> int:
        """How many of the nodes, at the front, are seeds."""
        return self.num_sampled_nodes[0]

    @property
    def num_nodes(self) -> int:
        """How many nodes there are, seeds and all."""
        return len(self.nodes)

    @property
    def num_edges(self) -> int:
        """How many edges there are."""
        return len(self.edge_ids)

    @property
    def x(self) -> Any:  # noqa: ANN401
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
    def y(self) -> Any:  # noqa: ANN401
        """The labels of the seeds, as in `labels`; None if the dataset has none."""
        return self.labels

    def __repr__(self) -> str:
        tables = "".join(f", {name} {brief(rows)}" for name, rows in self.features.items())
        return one_line(
            f"<{type(self).__name__} {self.number} of epoch {self.epoch}: {self.num_seeds:,} seeds,"
            f" {self.num_nodes:,} nodes, {self.num_edges:,} edges{tables}>"
        )
