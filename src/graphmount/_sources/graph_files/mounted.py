"""graphmount's own files as sources: edges of a `.gl` file, rows of a `.gd` file.

They are read where their sections lie, as plain files: a handle stands for the file that it has
open. Nodes keep their numbers, and external ids go along as the `node_ids` of the source. Edges
come in the order of the lists, weights and timestamps with them; each edge of an undirected graph
comes once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from graphmount._mount.features import FeatureStore
from graphmount._mount.graph import Graph
from graphmount._sources.arrays.array_stream import file_stream
from graphmount._sources.arrays.list_edges import ListEdges
from graphmount._sources.arrays.stream_rows import StreamRows
from graphmount._sources.contract.node_keys import as_keys
from graphmount._sources.objects.memory_rows import MemoryRows
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from graphmount._mount.results import Section
    from graphmount._sources.arrays.array_stream import ArrayStream
    from graphmount._sources.contract.batches import EdgeSource, RowSource

GRAPH_MAGIC = b"\x89GMGL\r\n\x1a"
FEATURES_MAGIC = b"\x89GMGD\r\n\x1a"
NODE_IDS_MAGIC = b"\x89GMGI\r\n\x1a"


def open_graph_edges(
    graph: Graph | str, *, weights: bool | None = None, timestamps: bool | None = None
) -> EdgeSource:
    """Edges of a graph file.

    Args:
        graph: The graph, or its path.
        weights: Whether to read weights; by default if there are any.
        timestamps: Whether to read timestamps; by default if there are any.

    Raises:
        FormatError: The file is damaged.
        SourceError: It has no weights or timestamps.
    """
    # A handle means the file that it has open, whatever is at its path by now.
    mounted = graph if isinstance(graph, Graph) else Graph(graph)
    sections = {section.name: section for section in mounted.sections}
    direction: Literal["in", "out"] = "in" if "indices (in)" in sections else "out"

    def stream(name: str) -> ArrayStream:
        return _stream(mounted, sections[f"{name} ({direction})"])

    values = {}
    for name, wanted in {"weights": weights, "timestamps": timestamps}.items():
        is_there = f"{name} ({direction})" in sections
        if wanted and not is_there:
            raise SourceError(f"{mounted.path} has no {name}")
        if is_there and wanted is not False:
            values[name] = stream(name)
    edges = ListEdges(
        name=mounted.path,
        indptr=stream("indptr"),
        indices=stream("indices"),
        owners="dst" if direction == "in" else "src",
        values=values,
        is_undirected=not mounted.directed,
    )
    edges.order = mounted.order
    if mounted.is_rectangular:
        edges.num_nodes, edges.num_ends = None, (mounted.num_sources, mounted.num_destinations)
    if mounted.node_id_type is not None:
        edges.node_ids = as_keys(mounted.to_external(np.arange(mounted.num_nodes)), "node_ids")
    return edges


def open_feature_rows(store: FeatureStore | str) -> RowSource:
    """Rows of a feature file: of a quantized one, the values that its integers stand for.

    Args:
        store: The mounted file, or its path.

    Raises:
        FormatError: The file is damaged.
    """
    mounted = store if isinstance(store, FeatureStore) else FeatureStore(store)
    if mounted.scales is not None:
        return MemoryRows(mounted)
    section = next(section for section in mounted.sections if section.name == "matrix")
    stream = _stream(mounted, section, mounted.shape)
    rows = StreamRows(stream, name=mounted.path, dtype=str(mounted.dtype))
    rows.order = mounted.order
    return rows


def _stream(
    handle: Graph | FeatureStore, section: Section, shape: tuple[int, ...] | None = None
) -> ArrayStream:
    dtype = np.dtype("uint16" if section.dtype == "bfloat16" else section.dtype)
    return file_stream(
        handle.path,
        section.offset,
        shape or section.shape[:1],
        dtype.newbyteorder("<"),
        name=f"{handle.path}, {section.name}",
        # The core's handle, which stays open if the Python handle is closed.
        mounted=handle._open(),  # noqa: SLF001  (part of the package)
    )
