"""Where rows of edge features go: from the rows of the source to the ids of the edges.

The graph knows the source row of each edge, but the reverse is needed. That is a graph as well,
from edge ids to rows, whose lists give the edges of each row: none if the edge was dropped, two if
it is undirected. It is compiled within the same budget and read in order, like any other.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from graphmount import _core
from graphmount._compile.rows.placement import Placement
from graphmount._mount.graph import Graph
from graphmount._mount.mapped_reads import read_list_section, require_source_rows
from graphmount._sources.contract.claims import is_plausible
from graphmount._support.files.temporary_folders import temporary_folder
from graphmount.errors import OrderError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from graphmount._sources.contract.batches import RowBatch, RowSource

_STEP = 1 << 20


class EdgePlacement(Placement):
    """A `Placement` by edge ids.

    Args:
        graph: A graph that was compiled with `source_rows=True`.
        rows: The rows of features.
        memory: The budget for turning the rows round, in bytes.
        folder: Where the temporary file is made.
        source: How many edges the source of the graph had, and what messages call it: there must be
            as many rows. The graph cannot tell, as rows after the last one that it knows may be of
            edges it dropped. If None, these are left out.

    Raises:
        MissingDataError: The graph does not know the rows of its source.
        OrderError: It knows rows that the features have not, or there are more or fewer of them.
    """

    def __init__(
        self,
        graph: Graph,
        rows: RowSource,
        *,
        memory: int,
        folder: str,
        source: tuple[int, str] | None = None,
    ) -> None:
        self._name = rows.name
        self._source = source
        if rows.num_rows is not None:
            self.finish(rows.num_rows)
        direction = graph.directions[0]
        require_source_rows(graph)
        count = graph.num_edges

        def read(first: int) -> NDArray[np.int64]:
            some = min(_STEP, count - first)
            return read_list_section(graph, "source rows", direction, first, some)

        largest = max((int(read(first).max()) for first in range(0, count, _STEP)), default=-1)
        super().__init__(count)
        compiler = _core.GraphCompiler(
            num_nodes=_count_rows(graph, rows, largest + 1),
            in_lists=True,
            out_lists=False,
            memory=memory,
            folder=os.fsencode(folder),
        )
        for first in range(0, count, _STEP):
            some = read(first)
            compiler.add(np.arange(first, first + len(some), dtype=np.int64), some)
        with temporary_folder(folder, prefix=".graphmount-rows-") as temporary:
            path = os.path.join(temporary, "rows.gl")
            compiler.finish(os.fsencode(path))
            self._edges_of_rows = Graph(path)  # the mapping outlives the name

    def place(
        self, batch: RowBatch, first_row: int
    ) -> tuple[NDArray[np.intp] | None, NDArray[np.int64]]:
        """The rows of a batch that belong to edges, as often as they do, and these edges."""
        upto = first_row + len(batch.rows)
        if self._source is not None and upto > self._source[0]:
            count, name = self._source
            raise OrderError(f"{self._name} has more rows than the {count} edges of {name}")
        graph = self._edges_of_rows
        last = graph.num_nodes
        begin, end = min(first_row, last), min(upto, last)
        offsets = read_list_section(graph, "indptr", "in", begin, end + 1 - begin)
        places = np.repeat(np.arange(end - begin), np.diff(offsets))
        first, count = int(offsets[0]), int(offsets[-1] - offsets[0])
        return places, read_list_section(graph, "indices", "in", first, count)

    def finish(self, num_rows: int) -> None:
        """Raises if the source of the graph had more edges, or fewer."""
        if self._source is not None and num_rows != self._source[0]:
            count, name = self._source
            raise OrderError(f"{self._name} has {num_rows} rows, but {name} has {count} edges")

    def name_of(self, node: int) -> str:
        """What messages call an edge: its id."""
        return f"edge {node}"


def _count_rows(graph: Graph, rows: RowSource, end: int) -> int:
    """How many rows the source of the graph had, as far as anybody needs to know.

    A file takes space for each of them, so a damaged number must not be believed.
    """
    known = rows.num_rows or 0
    if end > known and not is_plausible(end, graph.num_edges):
        there = f", and {rows.name} has {known} rows" if known else ""
        advice = "" if known else ", or the features as a file that knows how many rows it has"
        raise OrderError(
            f"{graph.path} has an edge from row {end - 1} of its source, but {graph.num_edges} "
            f"edges in all{there}: it is damaged, or not the graph of these rows; compile it again"
            f"{advice}"
        )
    return max(graph.num_edges, end)
