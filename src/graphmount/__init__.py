"""Mount your graph, don't load it.

graphmount keeps graphs and feature tables in files that are mapped, not read: opening one takes no
time and no memory, whatever its size, and NumPy and PyTorch see the file as their own array.

    import graphmount as gm

    gm.compile_graph((src, dst), "papers.gl")       # once
    gm.compile_features(x, "papers.gd", dtype="float16")

    g = gm.Graph("papers.gl")
    x = gm.FeatureStore("papers.gd")
    g.neighbors(42), x.numpy()[42], x.tensor()[42]
"""

from __future__ import annotations

from graphmount.cli import interruption as _interruption  # noqa: F401  (Ctrl-C)

# isort: split
# The module above comes before what takes long to import.
from graphmount import datasets, errors
from graphmount._compile.dataset.compiler import CompiledDataset, compile_dataset
from graphmount._compile.dataset.typed_nodes import Nodes
from graphmount._compile.expected_access import expected_access
from graphmount._compile.feature_compiler import CompiledFeatures, compile_features
from graphmount._compile.graph_compiler import CompiledGraph, compile_graph
from graphmount._compile.pyg.from_pyg import from_pyg
from graphmount._dataset.dataset import Dataset
from graphmount._dataset.node_type import NodeType, Relation
from graphmount._dataset.typed.results import TypedNeighborSample
from graphmount._dataset.typed_dataset import TypedDataset
from graphmount._dataset.verification import Problem, Verification, verify
from graphmount._loading.batches.batch import Batch, LinkBatch
from graphmount._loading.batches.typed_batch import TypedBatch, TypedLinkBatch
from graphmount._loading.epochs.replay import Replay
from graphmount._loading.epochs.stats import LoaderStats, TableStats
from graphmount._loading.link_loader import LinkNeighborLoader
from graphmount._loading.link_negatives import LinkNegatives
from graphmount._loading.node_loader import NeighborLoader
from graphmount._mount.features import FeatureStore
from graphmount._mount.graph import Graph
from graphmount._mount.memory_report import FileMemory, MemoryReport, memory
from graphmount._mount.node_ids import NodeIds, NodeRows
from graphmount._mount.order import check_order
from graphmount._mount.results import (
    DegreeSummary,
    NeighborLists,
    NeighborSample,
    Section,
    SkipGramPairs,
    VisitCounts,
)
from graphmount._sources.contract.tables import EdgeTable, Table
from graphmount._support.num_threads import num_threads, set_num_threads
from graphmount._support.version import __version__ as __version__

__all__ = [
    "Batch",
    "CompiledDataset",
    "CompiledFeatures",
    "CompiledGraph",
    "Dataset",
    "DegreeSummary",
    "EdgeTable",
    "FeatureStore",
    "FileMemory",
    "Graph",
    "LinkBatch",
    "LinkNegatives",
    "LinkNeighborLoader",
    "LoaderStats",
    "MemoryReport",
    "NeighborLists",
    "NeighborLoader",
    "NeighborSample",
    "NodeIds",
    "NodeRows",
    "NodeType",
    "Nodes",
    "Problem",
    "Relation",
    "Replay",
    "Section",
    "SkipGramPairs",
    "Table",
    "TableStats",
    "TypedBatch",
    "TypedDataset",
    "TypedLinkBatch",
    "TypedNeighborSample",
    "Verification",
    "VisitCounts",
    "check_order",
    "compile_dataset",
    "compile_features",
    "compile_graph",
    "datasets",
    "errors",
    "expected_access",
    "from_pyg",
    "memory",
    "num_threads",
    "set_num_threads",
    "verify",
]
