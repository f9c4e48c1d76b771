"""Where a loader is, as a dict that can be saved, and what decides the order of its batches.

The number of a batch means something only together with everything that decides which seeds come
before it. So a state contains these facts, and a loader takes a state only if its own facts are the
same: no seed comes twice, and none is left out. Only the number of processes may differ, if all of
them together take as many seeds at a time as before. Then batches of the same number have the same
seeds. `Resumed` is what loaders do with states: `state_dict` and `load_state_dict`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount import _core
from graphmount._loading.epochs.order import EpochOrder
from graphmount._support.arguments import as_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from graphmount._loading.data.loader_data import AnyData
    from graphmount._mount.sampling_rule import SamplingRule
    from graphmount._support.threads.process_lock import ProcessLock

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
    "node_types": "the list of node types, with their numbers of nodes and orders,",
    "edge_types": "the list of relations, with their numbers of edges and checksums,",
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


def order_facts(data: AnyData, rule: SamplingRule, **facts: Any) -> dict[str, Any]:  # noqa: ANN401
    """All that decides which seeds a batch has, and how it is sampled, but for the key.

    Args:
        data: What is sampled.
        rule: How.
        facts: What the loader has beside these: its inputs, and the options that order them.
    """
    shuffled = np.random.default_rng([0]).permutation(1000) if facts["shuffle"] else None
    return {
        **facts,
        # NumPy does not promise that it shuffles alike in all versions.
        "shuffling": None if shuffled is None else checksum_of(shuffled.astype(np.int64)),
        **{name: getattr(rule, name) for name in _OF_RULE},
        **data.facts(rule),
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


class Resumed(EpochOrder, ABC):
    """A loader that can go on where another one was. `BatchLoader` is what has these attributes."""

    _data: AnyData
    _rule: SamplingRule
    _epoch: int
    _handed_out: int
    _facts: dict[str, Any] | None
    _lock: ProcessLock

    @abstractmethod
    def _stop(self) -> None:
        """Ends the loop that runs, if there is one."""

    @abstractmethod
    def _set(self, **values: Any) -> None:  # noqa: ANN401
        """Sets several attributes at once."""

    @abstractmethod
    def _input_facts(self) -> dict[str, Any]:
        """What identifies the inputs and what is drawn for them, to compare loaders."""

    def _order_facts(self) -> dict[str, Any]:
        """What a state must have in common with this loader."""
        if self._facts is None:
            self._facts = order_facts(
                self._data,
                self._rule,
                num_inputs=self._num_inputs,
                **self._input_facts(),
                shuffle=self._shuffle,
                drop_last=self._drop_last,
                batch_size=self._batch_size,
                world_size=self._world_size,
            )
        return self._facts

    def state_dict(self) -> dict[str, Any]:
        """Where the loader is: the epoch, and how many of its batches have been handed out.

        After a loop was left early, this is still the place where it was left, until the next loop
        begins. The state can be written as JSON, and is the same for all ranks that are at the same
        batch. It also has everything that decides the order of batches, and a checksum of the
        inputs.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_graph(([0, 1], [1, 2]), "g.gl")
            >>> loader = gm.NeighborLoader(gm.Graph("g.gl"), [1], batch_size=2, seed=1)
            >>> batches = iter(loader)
            >>> _ = next(batches)
            >>> loader.state_dict()["batch"]
            1
        """
        with self._lock:
            place = Place(key=self._key, epoch=self._epoch, batch=self._handed_out)
        return state_at(place, self._order_facts())

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Makes the next loop go on where `state_dict` was taken, with the batch after it.

        This loader must have the same order of batches as the one that the state is from: the same
        inputs, shuffling, sampling, graph and number of inputs in a batch. Only the seed is taken
        from the state. The number of processes may differ if `batch_size` times `world_size` stays
        the same: the batches that are left are then shared by the processes that there are now.

        Args:
            state: What `state_dict` returned, for this loader or another one, on any rank.

        Raises:
            TypeError, ValueError: This is no state, or the state of a loader with another order of
                batches. The message names everything that differs. Nothing has changed then, and a
                running loop goes on.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_graph(([0, 1], [1, 2]), "g.gl")
            >>> loader = gm.NeighborLoader(gm.Graph("g.gl"), [1], batch_size=2, seed=1)
            >>> loader.load_state_dict({**loader.state_dict(), "batch": 1})
            >>> [batch.number for batch in loader]
            [1]
        """
        self._go_to(place_in(state, self._order_facts(), num_batches=len(self)))

    def _go_to(self, place: Place) -> None:
        """The next loop begins there."""
        with self._lock:
            self._stop()
            self._set(
                _key=place.key,
                _epoch=place.epoch,
                _handed_out=place.batch,
                _resumes=True,
                _was_left=False,
            )
