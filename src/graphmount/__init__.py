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

from graphmount import _interruption, errors  # noqa: F401  (Ctrl-C, before what takes long)
from graphmount._version import __version__ as __version__
from graphmount.batch import Batch
from graphmount.dataset import Dataset
from graphmount.dataset_compiler import CompiledDataset, compile_dataset
from graphmount.degree_summary import DegreeSummary
from graphmount.expected_access import expected_access
from graphmount.feature_compiler import CompiledFeatures, compile_features
from graphmount.features import FeatureStore
from graphmount.graph import Graph
from graphmount.graph_compiler import CompiledGraph, compile_graph
from graphmount.link_batch import LinkBatch
from graphmount.link_loader import LinkNeighborLoader
from graphmount.link_negatives import LinkNegatives
from graphmount.loader import NeighborLoader
from graphmount.loader_stats import LoaderStats, TableStats
from graphmount.memory_report import FileMemory, MemoryReport, memory
from graphmount.neighbor_lists import NeighborLists
from graphmount.neighbor_sample import NeighborSample
from graphmount.order import check_order
from graphmount.sections import Section
from graphmount.skip_gram_pairs import SkipGramPairs
from graphmount.tables import EdgeTable, Table
from graphmount.threads import num_threads, set_num_threads
from graphmount.verification import Problem, Verification, verify
from graphmount.visit_counts import VisitCounts

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
    "Problem",
    "Section",
    "SkipGramPairs",
    "Table",
    "TableStats",
    "Verification",
    "VisitCounts",
    "check_order",
    "compile_dataset",
    "compile_features",
    "compile_graph",
    "errors",
    "expected_access",
    "memory",
    "num_threads",
    "set_num_threads",
    "verify",
]
