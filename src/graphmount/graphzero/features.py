"""A mounted feature matrix with graphzero's calls: the file itself, as an array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphmount._support.arguments import as_id
from graphmount.errors import IdError
from graphmount.graphzero.original_files import as_runtime_errors, mount_features

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    import graphmount


class FeatureStore:
    """A `.gd` file: one of graphmount, or one of graphzero, which is copied once.

    Args:
        filename: The path of the file.

    Raises:
        RuntimeError: The file cannot be opened, or holds no features.

    Examples:
        >>> import graphmount as gm
        >>> import graphmount.graphzero as gz
        >>> _ = gm.compile_features([[1.0, 2.0], [3.0, 4.0]], "x.gd", dtype="float32")
        >>> store = gz.FeatureStore("x.gd")
        >>> store.num_nodes, store.feature_dim
        (2, 2)
    """

    def __init__(self, filename: str | os.PathLike[str]) -> None:
        with as_runtime_errors():
            self._store = mount_features(filename)

    def __repr__(self) -> str:
        return f"<graphzero.FeatureStore over {self._store!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return FeatureStore, (self._store.path,)

    @property
    def mounted(self) -> graphmount.FeatureStore:
        """The same file with graphmount's own calls, for the rest of the way."""
        return self._store

    @property
    def num_nodes(self) -> int:
        """Number of rows."""
        return self._store.shape[0]

    @property
    def feature_dim(self) -> int:
        """Number of columns."""
        return self._store.shape[1] if len(self._store.shape) == 2 else 1

    def get_tensor(self) -> NDArray[Any]:
        """The whole matrix as an array that is the file: no copy, pages on demand.

        Writing to it is private: the file never changes.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.graphzero as gz
            >>> _ = gm.compile_features([[1.0, 2.0], [3.0, 4.0]], "x.gd", dtype="float32")
            >>> gz.FeatureStore("x.gd").get_tensor()
            array([[1., 2.],
                   [3., 4.]], dtype=float32)
        """
        with as_runtime_errors():
            array, _ = self._store._private_view()  # noqa: SLF001
        return array.reshape(self.num_nodes, self.feature_dim)

    def get_data(self, node_id: int) -> NDArray[Any]:
        """The row of one node, as a part of `get_tensor`.

        Args:
            node_id: The node.

        Raises:
            RuntimeError: There is no such node.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.graphzero as gz
            >>> _ = gm.compile_features([[1.0, 2.0], [3.0, 4.0]], "x.gd", dtype="float32")
            >>> gz.FeatureStore("x.gd").get_data(1)
            array([3., 4.], dtype=float32)
        """
        node = as_id(node_id, "node_id")
        with as_runtime_errors():
            if not 0 <= node < self.num_nodes:
                raise IdError(
                    f"{self._store.path}: node {node} has no row: there are {self.num_nodes}, "
                    "numbered from 0 on"
                )
        row: NDArray[Any] = self.get_tensor()[node]
        return row
