"""graphmount for PyG: its loaders, its stores and its sampler over mounted files.

`NeighborLoader` and `LinkNeighborLoader` have PyG's arguments and batches, and graphmount's
pipeline; `LightningNodeData` and `LightningLinkData` are PyG's modules over them. `Dataset.to_pyg`
gives the stores. With `NeighborSampler` they work in PyG's own `NodeLoader` and `LinkLoader`, and
in what is built of these, such as Lightning's data modules. These pickle by path, so workers open
the files rather than being sent them. Only this package imports torch_geometric; neither pyg-lib
nor torch-sparse is needed. Lightning takes longer to import than torch, so it waits until one of
the modules for it is asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

try:
    import torch_geometric as _  # noqa: F401  (only to say what is missing)
except ImportError as error:
    raise ImportError("this needs PyG; install it with: pip install 'graphmount[pyg]'") from error

from graphmount.pyg.embeddings.metapath2vec import MetaPath2Vec
from graphmount.pyg.embeddings.node2vec import Node2Vec
from graphmount.pyg.link_neighbor_loader import LinkNeighborLoader
from graphmount.pyg.neighbor_loader import NeighborLoader
from graphmount.pyg.sampling.neighbor_sampler import NeighborSampler
from graphmount.pyg.stores.edge_features import EdgeFeatures
from graphmount.pyg.stores.feature_store import FeatureStore
from graphmount.pyg.stores.graph_store import GraphStore

if TYPE_CHECKING:
    from graphmount.pyg.lightning import LightningLinkData, LightningNodeData

__all__ = [
    "EdgeFeatures",
    "FeatureStore",
    "GraphStore",
    "LightningLinkData",
    "LightningNodeData",
    "LinkNeighborLoader",
    "MetaPath2Vec",
    "NeighborLoader",
    "NeighborSampler",
    "Node2Vec",
]

if not TYPE_CHECKING:  # to a type checker, every name would be one of this package

    def __getattr__(name: str) -> Any:  # noqa: ANN401
        if name not in ("LightningLinkData", "LightningNodeData"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module("graphmount.pyg.lightning"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
