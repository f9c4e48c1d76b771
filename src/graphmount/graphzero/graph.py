"""A mounted graph with graphzero's calls: all of them look along outgoing edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphmount._mount.mapped_reads import read_list_section
from graphmount._support.arguments import as_count, as_id
from graphmount.graphzero.original_files import as_runtime_errors, mount_graph

if TYPE_CHECKING:
    import os

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    import graphmount


class Graph:
    """A `.gl` file: one of graphmount, or one of graphzero, which is copied once.

    What is drawn depends on `torch.manual_seed` where torch is loaded, else on `numpy.random.seed`.

    Args:
        filename: The path of the file.

    Raises:
        RuntimeError: The file cannot be opened, or is no graph.

    Examples:
        >>> import graphmount as gm
        >>> import graphmount.graphzero as gz
        >>> _ = gm.compile_graph(([0, 0, 1], [1, 2, 2]), "g.gl")
        >>> g = gz.Graph("g.gl")
        >>> g.num_nodes, g.num_edges, g.has_weights
        (3, 3, False)
    """

    def __init__(self, filename: str | os.PathLike[str]) -> None:
        with as_runtime_errors():
            self._graph = mount_graph(filename)

    def __repr__(self) -> str:
        return f"<graphzero.Graph over {self._graph!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Graph, (self._graph.path,)

    @property
    def mounted(self) -> graphmount.Graph:
        """The same file with graphmount's own calls, for the rest of the way."""
        return self._graph

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self._graph.num_nodes

    @property
    def num_edges(self) -> int:
        """Number of list entries: an undirected edge counts twice, a loop once."""
        return self._graph.num_edges

    @property
    def has_weights(self) -> bool:
        """Whether edges have weights."""
        return self._graph.has_weights

    def get_degree(self, node_id: int) -> int:
        """How many edges leave a node.

        Args:
            node_id: The node.

        Raises:
            RuntimeError: There is no such node.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.graphzero as gz
            >>> _ = gm.compile_graph(([0, 0], [1, 2]), "g.gl")
            >>> gz.Graph("g.gl").get_degree(0)
            2
        """
        begin, end = self._list_range(node_id)
        return end - begin

    def get_neighbours(self, node_id: int) -> NDArray[np.int64]:
        """Where the edges of a node lead to, sorted.

        Args:
            node_id: The node.

        Returns:
            A new int64 array.

        Raises:
            RuntimeError: There is no such node.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.graphzero as gz
            >>> _ = gm.compile_graph(([0, 0], [2, 1]), "g.gl")
            >>> gz.Graph("g.gl").get_neighbours(0)
            array([1, 2])
        """
        begin, end = self._list_range(node_id)
        with as_runtime_errors():
            return read_list_section(self._graph, "indices", "out", begin, end - begin)

    def get_weights(self, node_id: int) -> NDArray[np.float32]:
        """The weights of the edges of a node, in the order of `get_neighbours`.

        Args:
            node_id: The node.

        Returns:
            A new float32 array.

        Raises:
            RuntimeError: There is no such node, or the graph has no weights.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.graphzero as gz
            >>> _ = gm.compile_graph(([0, 0], [2, 1]), "g.gl", weights=[0.5, 2.0])
            >>> gz.Graph("g.gl").get_weights(0)
            array([2. , 0.5], dtype=float32)
        """
        begin, end = self._list_range(node_id)
        if not self.has_weights:
            raise RuntimeError(
                f"{self._graph.path} has no weights; convert a table whose third column has them"
            )
        with as_runtime_errors():
            return read_list_section(self._graph, "weights", "out", begin, end - begin)

    def batch_random_walk(
        self, start_nodes: ArrayLike, walk_length: int, p: float = 1.0, q: float = 1.0
    ) -> NDArray[np.int64]:
        """Walks of node2vec. They choose edges by weight if the graph has weights.

        Args:
            start_nodes: The nodes to start from, one walk for each.
            walk_length: The number of steps of a walk.
            p: The larger, the less likely a walk goes straight back to the node it came from.
            q: Small values lead walks away from where they were, large values keep them near.

        Returns:
            int64 of shape (starts, walk_length + 1), each walk with its start. A walk stays where
            no edge leads on.

        Raises:
            RuntimeError: A start does not exist.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.graphzero as gz
            >>> _ = gm.compile_graph(([0, 1], [1, 2]), "path.gl")
            >>> gz.Graph("path.gl").batch_random_walk([0, 2], 3, q=0.5)
            array([[0, 1, 2, 2],
                   [2, 2, 2, 2]])
        """
        with as_runtime_errors():
            return self._graph.random_walk(
                start_nodes, walk_length, p=p, q=q, weighted=self.has_weights
            )

    def batch_random_walk_uniform(
        self, start_nodes: ArrayLike, walk_length: int
    ) -> NDArray[np.int64]:
        """Walks that choose all edges with the same probability, whatever their weights.

        Args:
            start_nodes: The nodes to start from, one walk for each.
            walk_length: The number of steps of a walk.

        Returns:
            int64 of shape (starts, walk_length + 1), each walk with its start. A walk stays where
            no edge leads on.

        Raises:
            RuntimeError: A start does not exist.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.graphzero as gz
            >>> _ = gm.compile_graph(([0, 1, 2], [1, 2, 0]), "ring.gl")
            >>> gz.Graph("ring.gl").batch_random_walk_uniform([0, 1], 3)
            array([[0, 1, 2, 0],
                   [1, 2, 0, 1]])
        """
        with as_runtime_errors():
            return self._graph.random_walk(start_nodes, walk_length)

    def batch_random_fanout(
        self,
        start_nodes: ArrayLike,
        K: int,  # noqa: N803  (graphzero's name)
    ) -> NDArray[np.int64]:
        """Draws K random neighbors of each node. All entries of its list are equally likely.

        Args:
            start_nodes: The nodes whose neighbors to draw.
            K: How many neighbors to draw for each node.

        Returns:
            int64 of shape (nodes, K). Where there are fewer neighbors, they are repeated, each as
            often as the others; a node without any stands for itself.

        Raises:
            RuntimeError: A node does not exist.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.graphzero as gz
            >>> _ = gm.compile_graph(([0, 1], [1, 2]), "path.gl")
            >>> gz.Graph("path.gl").batch_random_fanout([0, 2], K=2)
            array([[1, 1],
                   [2, 2]])
        """
        with as_runtime_errors():
            return self._graph.batch_random_fanout(start_nodes, K, direction="out")

    def sample_neighbours(
        self,
        start_node: int,
        K: int,  # noqa: N803  (graphzero's name)
    ) -> NDArray[np.int64]:
        """Draws K random neighbors of one node; returns all of them if it has no more than K.

        Args:
            start_node: The node whose neighbors to draw.
            K: How many neighbors to draw at most.

        Returns:
            int64, of different entries of the node's list.

        Raises:
            RuntimeError: The node does not exist.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.graphzero as gz
            >>> _ = gm.compile_graph(([0, 0], [1, 2]), "g.gl")
            >>> sorted(gz.Graph("g.gl").sample_neighbours(0, 5).tolist())
            [1, 2]
        """
        count = min(as_count(K, "K"), self.get_degree(start_node))
        return self.batch_random_fanout([start_node], count).reshape(count)

    def _list_range(self, node_id: int) -> tuple[int, int]:
        """Where the list of a node begins and ends."""
        node = as_id(node_id, "node_id")
        with as_runtime_errors():
            return self._graph._open().neighbor_range(node, "out")  # noqa: SLF001
