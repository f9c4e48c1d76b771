"""Where a loader is, as a dict that can be saved, and what decides the order of its batches.

The number of a batch means something only together with everything that decides which seeds come
before it. So a state contains these facts, and a loader takes a state only if its own facts are the
same: no seed comes twice, and none is left out. Only the number of processes may differ, if all of
them together take as many seeds at a time as before. Then batches of the same number have the same
seeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount import _core
from graphmount._support.arguments import as_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from graphmount._mount.graph import Graph
    from graphmount._mount.sampling_rule import SamplingRule

#: Goes up when the same options give another order than before.
VERSION = 1

_OF_RULE = ("replace", "weighted", "disjoint", "temporal_strategy", "subgraph_type", "direction")

# What cannot be said by the name of an argument.
_WORDS = {
    "kind": "what the loader has for inputs",
    "num_inputs": "the number of inputs",
    "inputs": "the checksum of the inputs",
    "times": "the checksum of the times of inputs",
    "num_nodes": "the number of nodes of the graph",
    "num_edges": "the number of edges of the graph",
    "node_order": "the order of the nodes of the graph",
    "graph": "the checksum of the graph",
    "shuffling": "the way in which NumPy shuffles",
    "src_weight": "the checksum of src_weight",
    "dst_weight": "the checksum of dst_weight",
}


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where to go on: the key of randomness, the epoch, and how many of its batches are done."""

    key: int
    epoch: int
    batch: int


def checksum_of(array: NDArray[Any]) -> str:
    """A checksum of the values of an array."""
    return f"{_core.checksum(np.ascontiguousarray(array).reshape(-1).view(np.uint8)):016x}"


def order_facts(graph: Graph, rule: SamplingRule, **facts: Any) -> dict[str, Any]:  # noqa: ANN401
    """All that decides which seeds a batch has, and how it is sampled, but for the key.

    Args:
        graph: What is sampled.
        rule: How.
        facts: What the loader has beside these: its inputs, and the options that order them.
    """
    shuffled = np.random.default_rng([0]).permutation(1000) if facts["shuffle"] else None
    return {
        **facts,
        # NumPy does not promise that it shuffles alike in all versions.
        "shuffling": None if shuffled is None else checksum_of(shuffled.astype(np.int64)),
        "num_neighbors": list(rule.fanouts),
        **{name: getattr(rule, name) for name in _OF_RULE},
        "num_nodes": graph.num_nodes,
        "num_edges": graph.num_edges,
        "node_order": f"{graph.order:016x}",
        "graph": f"{graph._content[1]:016x}",  # noqa: SLF001  (a friend)
    }


def state_at(place: Place, own: Mapping[str, Any]) -> dict[str, Any]:
    """The state of a loader at this place, as data for JSON."""
    return {"version": VERSION, **asdict(place), "order": dict(own)}


def place_in(state: object, own: Mapping[str, Any], *, num_batches: int) -> Place:
    """Where a state says to go on.

    Args:
        state: What was saved.
        own: The facts of the loader that takes it.
        num_batches: Of an epoch.

    Raises:
        TypeError: It is no state.
        ValueError: It lacks something, or is of a loader with another order.
    """
    if not isinstance(state, Mapping):
        raise TypeError(f"a state is what state_dict() gives, a dict, not {state!r:.100}")
    for name in ("key", "epoch", "batch"):
        if name not in state:
            raise ValueError(f"the state has no {name!r}; take it from state_dict()")
    key = as_count(state["key"], "state['key']", most=2**64 - 1)
    epoch = as_count(state["epoch"], "state['epoch']")
    batch = as_count(state["batch"], "state['batch']")
    _require_same(state, own, epoch)
    if batch > num_batches:
        raise ValueError(
            f"state['batch'] is {batch}, and an epoch has {num_batches} batches; give at most that"
        )
    return Place(key=key, epoch=epoch, batch=batch)


def _require_same(state: Mapping[str, Any], own: Mapping[str, Any], epoch: int) -> None:
    advice = (
        "Make the loader as it was. Or begin that epoch anew: loader.load_state_dict("
        f'{{**loader.state_dict(), "epoch": {epoch}, "batch": 0}})'
    )
    order = state.get("order")
    if not _is_same(state.get("version"), VERSION) or not isinstance(order, Mapping):
        raise ValueError(
            "the state does not say which order its batches have: it is of another version of "
            f"graphmount (version {state.get('version')!r:.100} of states, not {VERSION}), or "
            f"was not made by state_dict(). {advice}"
        )
    found = [
        f"{_WORDS.get(name, name)} is {order.get(name)!r:.100} in the state and "
        f"{own.get(name)!r} here"
        for name in [*own, *(name for name in order if name not in own)]
        if name not in ("batch_size", "world_size") and not _is_same(order.get(name), own.get(name))
    ]
    batch_size = as_count(order.get("batch_size"), "state['order']['batch_size']", least=1)
    world_size = as_count(order.get("world_size"), "state['order']['world_size']", least=1)
    if batch_size * world_size != own["batch_size"] * own["world_size"]:
        found.append(_other_size(batch_size, world_size, own["batch_size"], own["world_size"]))
    if found:
        raise ValueError(
            "the state is of a loader with another order of seeds, of which some would come "
            f"twice, or never: {'; '.join(found)}. {advice}"
        )


def _is_same(saved: object, own: object) -> bool:
    """Whether a value came back as it was saved; some formats make tuples of lists."""
    # Compared by their text: a value from elsewhere may be an array, which compares item by item.
    return repr(list(saved) if isinstance(saved, tuple) else saved) == repr(own)


def _other_size(batch_size: int, world_size: int, own_size: int, own_world: int) -> str:
    together = batch_size * world_size
    text = (
        f"batch_size x world_size is {batch_size} x {world_size} = {together} in the state and "
        f"{own_size} x {own_world} = {own_size * own_world} here"
    )
    if world_size != own_world and together % own_world == 0:
        text += f" (batch_size={together // own_world} would do for {own_world} processes)"
    return text
