"""The nodes of one type: how many there are, in which order, and what the source calls them.

It has the members of a `Graph` that concern nodes, so that what places rows or reads ids works with
a graph of one type, and with a type of a dataset of many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphmount import _core
from graphmount._mount.node_ids import mark_ids, mark_rows, order_of, require_marked
from graphmount._mount.node_reading import as_nodes, ids_of_nodes, nodes_of_ids, require_keys
from graphmount._support.arguments import as_native
from graphmount._support.text_columns import to_core
from graphmount.errors import IdError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from graphmount._dataset.spaces.node_id_store import NodeIdStore
    from graphmount._support.text_columns import Keys


class NodeSpace:
    """The nodes of a type.

    Args:
        type_name: The name of the type.
        num_nodes: How many there are.
        order: The fingerprint of their order.
        ids: Their external ids; None if the source numbers them as they are numbered here.
    """

    def __init__(
        self, type_name: str, num_nodes: int, order: int, ids: NodeIdStore | None = None
    ) -> None:
        self.type_name = type_name
        self.num_nodes = num_nodes
        self.order = order
        self._ids = ids
        self._inside = None  # as a graph that was opened alone has it

    @property
    def path(self) -> str:
        """What messages call these nodes."""
        return f"node type {self.type_name!r}"

    @property
    def node_id_type(self) -> type[int | str] | None:
        """Type of the external ids: int, str, or None if there are none but the numbers."""
        return None if self._ids is None else self._ids.node_id_type

    @property
    def _own_order(self) -> int:
        """The order that ids must be marked with, or 0 if integers mean the same everywhere."""
        return 0 if self._ids is None else self.order

    def _mark_rows(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Rows of all nodes of the type, which take no ids of other types."""
        return mark_rows(rows, self.order, takes_plain=self._ids is None)

    def _external(self) -> _core.NodeIds:
        assert self._ids is not None  # noqa: S101  (asked for by those that know)
        return _core.NodeIds(self._ids._open())  # noqa: SLF001

    def _find(self, keys: Keys) -> NDArray[np.int64]:
        """As `to_internal`, for keys as sources have them; -1 for those that no node has."""
        return as_native(self._external().find(to_core(keys)))

    def to_external(self, ids: ArrayLike) -> NDArray[np.int64] | list[str]:
        """The ids that the source has for these nodes.

        Args:
            ids: Nodes of this type, as internal ids.

        Returns:
            An int64 array, or a list of str where the ids of the source are strings.

        Raises:
            IdError: A node does not exist; or the ids are known to be of another type or dataset.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_dataset(
            ...     "cast", nodes={"actor": gm.Nodes(node_ids=["ann", "bob"]), "film": gm.Nodes()},
            ...     edges={("actor", "in", "film"): ([0, 1, 1], [0, 0, 1])},
            ... )
            >>> gm.Dataset("cast").nodes["actor"].to_external([0])
            ['bob']
        """
        if order_of(ids) != 0:
            require_marked(ids, "ids", self.order)
        if self._ids is None:
            return self._same(ids, "ids")
        try:
            return ids_of_nodes(self._external(), ids, self.node_id_type)
        except IdError as error:
            raise IdError(f"{self.path}: {error}") from None

    def to_internal(self, keys: ArrayLike | Sequence[str]) -> NDArray[np.int64]:
        """The nodes that have these ids in the source.

        Args:
            keys: External ids, integers or strings as the source has them.

        Returns:
            `NodeIds`, one for each key.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_dataset(
            ...     "crew", nodes={"actor": gm.Nodes(node_ids=["ann", "bob"]), "film": gm.Nodes()},
            ...     edges={("actor", "in", "film"): ([0, 1, 1], [0, 0, 1])},
            ... )
            >>> gm.Dataset("crew").nodes["actor"].to_internal(["bob"])
            NodeIds([0])

        Raises:
            IdError: No node has this external id; the message says which.
            TypeError: The keys are of the wrong type.
            ValueError: The keys are known to be internal ids of a dataset.
        """
        require_keys(keys)
        if self._ids is None:
            return mark_ids(self._same(keys, "keys"), self.order)
        try:
            found = nodes_of_ids(self._external(), keys, self.node_id_type, self.path)
        except IdError as error:
            raise IdError(f"{self.path}: {error}") from None
        return mark_ids(found, self.order)

    def _same(self, ids: Any, name: str) -> NDArray[np.int64]:  # noqa: ANN401
        return as_nodes(ids, name, self.num_nodes, of=f"{self.path}: ")
