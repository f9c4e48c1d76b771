"""A mounted `.gi` file: the external ids of the nodes of one type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmount import _core
from graphmount._mount.handle import Handle

if TYPE_CHECKING:
    import os

    from graphmount._mount.handle import Advice


class NodeIdStore(Handle[_core.NodeIdFile]):
    """A mounted file of ids. Datasets open them; users have `to_internal` and `to_external`.

    Args:
        path: The path of the file.
        advice: How the file will be used.
    """

    _core_type = _core.NodeIdFile
    _suffix = ".gi"
    _part = "ids: those of its node types"

    def __init__(self, path: str | os.PathLike[str], *, advice: Advice = "auto") -> None:
        self._mount(path, advice=advice)

    @property
    def num_nodes(self) -> int:
        """How many nodes have ids."""
        return self._open().num_nodes

    @property
    def node_id_type(self) -> type[int | str]:
        """The type of the ids."""
        return str if self._open().node_id_kind == "str" else int
