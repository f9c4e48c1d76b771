"""The arguments of PyG's loaders that mean something else here, or nothing.

Scripts written for PyG should run as they are. Options of worker processes are accepted, and one
warning names them: threads of the core do the work. Options that would change batches are refused,
with a message that says what to do instead.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, TypeAlias

import torch

from graphmount._loading.options import PipelineOptions
from graphmount._support.arguments import require_choice, require_type
from graphmount._support.shown import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from torch_geometric.data import Data, HeteroData
    from torch_geometric.sampler.base import SubgraphType as PygSubgraphType

    from graphmount._loading.options import LoaderInput
    from graphmount._mount.sampling_rule import SubgraphType


#: What a loader of this package is made of: also of an object of PyG.
PygInput: TypeAlias = "LoaderInput | Data | HeteroData"


class LoaderOptions(PipelineOptions, total=False):
    """The options that loaders of this package take as PyG's do, and graphmount's own."""

    subgraph_type: SubgraphType | PygSubgraphType
    pin_memory: bool | None
    generator: torch.Generator | None
    is_sorted: bool
    num_workers: int
    persistent_workers: bool
    prefetch_factor: int | None
    filter_per_worker: bool | None
    worker_init_fn: Callable[[int], None] | None
    multiprocessing_context: Any
    timeout: float
    pin_memory_device: str
    in_order: bool


# Each with its default in PyG.
_OF_WORKERS = {
    "num_workers": 0,
    "persistent_workers": False,
    "prefetch_factor": None,
    "filter_per_worker": None,
    "worker_init_fn": None,
    "multiprocessing_context": None,
    "timeout": 0,
    "pin_memory_device": "",
    "in_order": True,
}

_REFUSED = {
    "sampler": "orders of its own are not taken; give input_nodes or edge_label_index in the order "
    "that you want, with shuffle=False",
    "batch_sampler": "orders of its own are not taken; give input_nodes or edge_label_index in the "
    "order that you want, with batch_size and shuffle=False",
    "neighbor_sampler": "the loader samples by itself; PyG's own NodeLoader and LinkLoader take a "
    "graphmount.pyg.NeighborSampler",
    "transform_sampler_output": "rows are on their way when a sample is made; transform= gets the "
    "batch, and PyG's own NodeLoader with graphmount.pyg.NeighborSampler has this option",
}


#: What Lightning gives to a loader that it makes again.
_OF_LIGHTNING = ("dataset", "collate_fn")
#: What loaders take, beside their options, and no message offers.
NOT_OFFERED = (*_REFUSED, *_OF_LIGHTNING)


def take_options(options: Mapping[str, Any], *, directed: bool, stacklevel: int) -> dict[str, Any]:
    """What is left for graphmount's own loader.

    Args:
        options: All that was given by name.
        directed: PyG's older way to ask for induced subgraphs.
        stacklevel: The stack level of the warning.

    Raises:
        ValueError: An option would change batches, and cannot.
    """
    require_choice("directed", directed, (False, True))
    left = dict(options)
    for name, advice in _REFUSED.items():
        if left.pop(name, None) is not None:
            raise ValueError(f"{name}: {advice}")
    for name in (*_OF_LIGHTNING, "is_sorted"):
        left.pop(name, None)  # lists are sorted
    left = without_workers(left, stacklevel=stacklevel + 1)
    generator = left.pop("generator", None)
    if generator is not None:
        require_type("generator", generator, torch.Generator, "a torch.Generator")
        if left.get("seed") is not None:
            raise ValueError("generator and seed both say where randomness comes from; give one")
        left["seed"] = int(torch.randint(2**63 - 1, (), generator=generator).item())
    if not directed:
        left["subgraph_type"] = "induced"
    kind = left.get("subgraph_type", "directional")
    left["subgraph_type"] = getattr(kind, "value", kind)  # PyG has an enum, too
    return left


def without_workers(options: dict[str, Any], *, stacklevel: int) -> dict[str, Any]:
    """The options, without those of worker processes, which one warning names.

    Args:
        options: All that was given by name.
        stacklevel: The stack level of the warning.
    """
    left = dict(options)
    idle = [
        name
        for name, default in _OF_WORKERS.items()
        # Compared by their text: a value may be anything, also something that cannot be compared.
        if shown(left.pop(name, default)) != shown(default)
    ]
    require_choice("pin_memory", left.get("pin_memory"), (None, False, True))
    if left.get("pin_memory") and not torch.cuda.is_available():
        idle.append("pin_memory")
        left["pin_memory"] = False
    if idle:
        warn_of_workers(idle, stacklevel=stacklevel + 1)
    return left


def warn_of_workers(names: Iterable[str], *, stacklevel: int) -> None:
    """Warns that what PyG has for its workers does nothing here.

    Args:
        names: What was given or called.
        stacklevel: The stack level of the warning.
    """
    warnings.warn(
        f"{', '.join(names)}: without effect. Threads of the core sample and read ahead, with no "
        "worker processes; window= and prefetch= say how far, and rows are pinned where there is "
        "CUDA",
        UserWarning,
        stacklevel=stacklevel,
    )
