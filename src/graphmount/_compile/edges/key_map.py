"""Numbers the keys of a source, integers or text, in the order in which they first appear."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphmount import _core
from graphmount._support.sizes import format_bytes
from graphmount._support.text_columns import TextColumn, from_core, to_core
from graphmount.errors import BudgetError, SourceError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from graphmount._support.text_columns import Keys


class KeyMap:
    """A map from keys to node numbers, within a budget.

    Args:
        name: What messages call the source of the keys.
        is_text: Whether keys are text rather than integers.
        memory: How many bytes the map may take.
    """

    def __init__(self, name: str, *, is_text: bool, memory: int) -> None:
        self._name = name
        self._memory = memory
        self._core: _core.NumberMap | _core.NameMap
        self._core = _core.NameMap() if is_text else _core.NumberMap()

    def __len__(self) -> int:
        return len(self._core)

    @property
    def memory_bytes(self) -> int:
        """How much memory the map takes."""
        return self._core.memory_bytes

    def add(self, src: Keys, dst: Keys) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The numbers of the ends of edges: new keys get the next ones, edge by edge.

        Raises:
            BudgetError: The map has grown too large.
        """
        ids: tuple[NDArray[np.int64], NDArray[np.int64]] = self._core.add(
            to_core(src), to_core(dst)
        )
        if self._core.memory_bytes > self._memory:
            raise BudgetError(
                f"{self._name}: a map of {len(self):,} ids takes "
                f"{format_bytes(self._core.memory_bytes)}, and it may take half of memory=, which "
                f"is {format_bytes(self._memory)}; pass a larger memory="
            )
        return ids

    def add_all(self, keys: Keys) -> NDArray[np.int64]:
        """The numbers of keys that are no ends of edges."""
        return self.add(keys, keys)[0]

    def find(self, keys: Keys) -> NDArray[np.int64]:
        """The numbers of keys, -1 for those that have none."""
        return self._core.find(to_core(keys))

    def fill(self, node_ids: Keys) -> None:
        """Numbers all nodes, which must have different keys, in their order."""
        if isinstance(node_ids, TextColumn) != isinstance(self._core, _core.NameMap):
            kinds = (
                ("integers", "text") if isinstance(node_ids, TextColumn) else ("text", "integers")
            )
            raise SourceError(f"{self._name} has {kinds[0]} for ids, and node_ids {kinds[1]}")
        found = self.add_all(node_ids)
        repeats = found != np.arange(len(found))
        if repeats.any():
            place = int(np.argmax(repeats))
            raise SourceError(
                f"node_ids: nodes {int(found[place])} and {place} have the same external id "
                f"{shown_key(node_ids, place)}"
            )

    def keys(self) -> Keys:
        """All keys, in the order of their numbers."""
        keys: Keys = from_core(self._core.keys())
        return keys


def shown_key(keys: Keys, place: int) -> str:
    """A key as messages show it."""
    if isinstance(keys, TextColumn):
        text = bytes(keys.data[keys.offsets[place] : keys.offsets[place + 1]])
        return repr(text.decode("utf-8", "replace"))
    return str(int(keys[place]))
