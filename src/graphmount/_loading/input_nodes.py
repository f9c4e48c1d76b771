"""The nodes that a loader is asked for, in whichever ids they are given: as internal ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphmount._mount.node_reading import require_reading, to_internal

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from graphmount._loading.inputs import LoaderData
    from graphmount._mount.node_ids import IdReading


def as_input_nodes(
    nodes: ArrayLike | str | None, data: LoaderData, ids: IdReading | None = None
) -> NDArray[np.int64]:
    """Seeds as users give them: all nodes, a split of the dataset, ids, or a mask."""
    require_reading(ids)
    if nodes is None:
        return np.arange(data.graph.num_nodes)
    if isinstance(nodes, str):
        splits = {} if data.dataset is None else data.dataset.description["splits"]
        if data.dataset is None or nodes not in splits:
            raise ValueError(f"input_nodes={nodes!r}: there are the splits {sorted(splits)}")
        return data.dataset._read_split(nodes)  # noqa: SLF001
    return to_internal(nodes, "input_nodes", data.graph, ids)
