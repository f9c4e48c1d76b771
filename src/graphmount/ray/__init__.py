"""graphmount on Ray: what runs under torchrun runs under Ray Train, with restarts and checkpoints.

Only this package imports ray. Its parts are imported when they are used, so that a process of Ray
that trains nothing does not import torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

try:
    import ray as _  # noqa: F401  (only to say what is missing)
except ImportError as error:
    raise ImportError("this needs Ray; install it with: pip install 'graphmount[ray]'") from error

if TYPE_CHECKING:
    from graphmount._sources.arrow.cluster_edges import ClusterEdges
    from graphmount.ray.checkpoint import load_checkpoint, save_checkpoint
    from graphmount.ray.data.feature_source import read_features
    from graphmount.ray.training import RankGroup

__all__ = ["ClusterEdges", "RankGroup", "load_checkpoint", "read_features", "save_checkpoint"]

#: The modules that have the names above.
_PLACES = {
    "ClusterEdges": "graphmount._sources.arrow.cluster_edges",
    "RankGroup": "graphmount.ray.training",
    "load_checkpoint": "graphmount.ray.checkpoint",
    "read_features": "graphmount.ray.data.feature_source",
    "save_checkpoint": "graphmount.ray.checkpoint",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_PLACES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
