"""A `HeteroData` that a loader is made from, and the dataset of the same content in the cache.

Batches use the ids of the `HeteroData`, and have the same attributes. Masks, and attributes that no
table can hold, come from the object itself. Attributes of the graph as a whole are shared with it.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch_geometric.sampler import NumNeighbors

from graphmount._compile.cache.compiled_data import open_compiled
from graphmount._sources.objects.pyg_data import TypeParts, hetero_parts_of
from graphmount._support.shown import shown
from graphmount._support.user_warnings import warn_user
from graphmount.errors import SourceError
from graphmount.pyg.sources.kept_rows import rows_at
from graphmount.pyg.stores.batch_names import OF_LOADERS

if TYPE_CHECKING:
    import os

    from torch_geometric.data import HeteroData

    from graphmount._dataset.typed.results import EdgeType
    from graphmount._dataset.typed_dataset import TypedDataset
    from graphmount._mount.sampling_rule import TimeOf
    from graphmount._support.progress import ProgressOption

#: What loaders make by themselves, and an object may have from a loader before.
_KEPT = ("edge_index", "num_nodes")


class HeteroSource:
    """A `HeteroData`, and its dataset in the cache.

    Args:
        data: The object.
        weight_attr: The attribute of edges that sampling is weighted by, or None.
        time_attr: The attribute with times, of nodes or of edges, or None.
        links: The links that a loader has as inputs: a relation, or a pair of it and its links;
            None for other loaders.
        cache: The folder of the cache; the usual one if None.
        progress: The `progress` of `compile_dataset`; False also leaves out the line about it.

    Attributes:
        data: The object.
        dataset: The dataset.
        time_of: Whose times `time_attr` has; None without.
        added: The relation of links, if the object has no edges of it; else None.

    Raises:
        ValueError: PyG's errors of `time_attr` and `weight_attr`.
    """

    def __init__(
        self,
        data: HeteroData,
        *,
        weight_attr: str | None,
        time_attr: str | None,
        links: Any,  # noqa: ANN401
        cache: str | os.PathLike[str] | None,
        progress: ProgressOption,
    ) -> None:
        self.data = data
        if not data.node_types:
            raise SourceError("this HeteroData has no nodes to sample")
        if time_attr == "auto":
            time_attr = _usual_times(data)
        self.time_of = _whose_times(data, time_attr)
        stores = [*data.node_stores, *data.edge_stores]
        there = {key for store in stores for key in store}
        if weight_attr is not None and not any(weight_attr in store for store in data.edge_stores):
            raise ValueError(
                f"weight_attr={shown(weight_attr)}: no relation of this HeteroData has it"
            )
        unwanted = [name for name in OF_LOADERS if name in there and name not in _KEPT]
        parts = hetero_parts_of(data, exclude=unwanted, keeps_others=True)
        self._links = self._relation_of(links)
        self.added = None if self._links in parts.edges else self._links
        if self.added is not None:
            # Links need not be of a relation that messages are passed along.
            self._warn_of_others(self.added)
            parts.edges[self.added] = TypeParts(
                count=0, edge_index=torch.empty(2, 0, dtype=torch.int64), rows={}, masks={}
            )
        self.dataset: TypedDataset
        self.dataset, self._lock = open_compiled(
            parts, weights=weight_attr, timestamps=time_attr, folder=cache, progress=progress
        )
        both: dict[Any, Any] = {**parts.nodes, **parts.edges}
        self._shapes = {
            (space, name): tuple(data[space][name].shape[1:])
            for space, part in both.items()
            for name in part.rows
        }
        self._rest = {space: [*part.masks, *part.others] for space, part in both.items()}
        self._skeleton = _without_rows(data)

    def nodes(self, name: str, given: Any) -> Any:  # noqa: ANN401
        """The seeds of a type: those given, all of them if None, or those of a mask by its name.

        Raises:
            ValueError: There is no such type or mask.
        """
        if name not in self.data.node_types:
            known = ", ".join(map(repr, self.data.node_types))
            raise ValueError(f"input_nodes: there is no node type {shown(name)}; there are {known}")
        store = self.data[name]
        if given is None:
            return torch.arange(store.num_nodes)
        if not isinstance(given, str):
            return given
        for key in (given, f"{given}_mask"):
            if key in store and getattr(store[key], "dtype", None) == torch.bool:
                return store[key]
        names = sorted(key for key in store if key.endswith("_mask"))
        raise ValueError(f"input_nodes=({name!r}, {given!r}): there are the masks {names}")

    def links(self, given: Any) -> Any:  # noqa: ANN401
        """A relation and its links, which are all of its edges, in its order, if none are given.

        What is not understood goes on, and is refused there.
        """
        if self._links is None:
            return given
        links = None if _is_relation(given) else given[1]
        if links is None and self._links in self.data.edge_types:
            links = self.data[self._links].edge_index
        return given if links is None else (self._links, links)

    def _relation_of(self, given: Any) -> EdgeType | None:  # noqa: ANN401
        """The relation of links, by PyG's rules; None if it is not understood.

        Two types stand for the only relation that joins them, or for one that is called "to". Links
        may be of a relation that has no edges, if the two types are there.
        """
        is_pair = isinstance(given, tuple | list) and len(given) == 2 and not _is_relation(given)
        named = given[0] if is_pair else given
        if not _is_relation(named):
            return None
        joining = [name for name in self.data.edge_types if (name[0], name[2]) == tuple(named)]
        if len(joining) == 1:
            named = joining[0]
        elif len(named) == 2:
            named = (named[0], "to", named[1])
        relation: EdgeType = (named[0], named[1], named[-1])
        if relation in self.data.edge_types:
            return relation
        are_types = {relation[0], relation[2]} <= set(self.data.node_types)
        return relation if is_pair and given[1] is not None and are_types else None

    def _warn_of_others(self, links: EdgeType) -> None:
        """Warns of a relation without edges beside others between the same types: a slip?"""
        others = [name for name in self.data.edge_types if name[::2] == links[::2]]
        if others:
            warn_user(
                f"this HeteroData has no edges of {links}, but of {others[0]}; links are taken as "
                "they are given, and negatives may be edges of other relations"
            )

    def fanouts(self, given: Any) -> Any:  # noqa: ANN401
        """Fanouts by relation, also of the one that has no edges; others as they are.

        Raises:
            ValueError: PyG's errors.
        """
        is_by_relation = isinstance(given, NumNeighbors | Mapping)
        if self.added is None or not is_by_relation:
            return given
        numbers = given if isinstance(given, NumNeighbors) else NumNeighbors(given)
        values = numbers.get_values(self.data.edge_types)
        return {**values, self.added: [0] * numbers.num_hops}

    def new_batch(self) -> HeteroData:
        """A batch with what belongs to the graph as a whole."""
        return copy.copy(self._skeleton)

    def add_rest(self, store: Any, space: Any, ids: torch.Tensor | None) -> None:  # noqa: ANN401
        """Adds what no table holds to the part of a batch.

        Args:
            store: The part.
            space: The type or relation.
            ids: Its nodes or edges, by the ids of the object; None if edges have none.
        """
        own = self.data[space]
        kept = "e_id" if isinstance(space, tuple) else "n_id"
        for name in (kept, *self._rest[space]):
            value = own.get(name) if hasattr(own, "get") else None
            if value is None:
                continue
            if ids is None:
                store[name] = None
                continue
            dim = self.data.__cat_dim__(name, value, own)
            store[name] = rows_at(value, ids, dim)

    def has(self, space: Any, name: str) -> bool:  # noqa: ANN401
        """Whether the object still has an attribute: scripts delete what they do not want."""
        return name in self.data[space]

    def shaped(self, space: Any, tables: dict[str, torch.Tensor]) -> dict[str, Any]:  # noqa: ANN401
        """Rows of tables in the shape that the object had them in; without those that it lost."""
        return {
            name: rows.reshape(len(rows), *self._shapes[space, name])
            for name, rows in tables.items()
            if self.has(space, name)
        }


def _is_relation(given: Any) -> bool:  # noqa: ANN401
    """Whether this names a relation, by its types or wholly."""
    return (
        isinstance(given, tuple | list)
        and len(given) in (2, 3)
        and all(isinstance(part, str) for part in given)
    )


def _usual_times(data: HeteroData) -> str:
    """The attribute that has times, if nobody says which.

    Raises:
        ValueError: There is none of a usual name.
    """
    for name in ("time", "edge_time"):
        if any(name in store for store in data.stores):
            return name
    raise ValueError("times of seeds need time_attr=, the attribute with those of nodes or edges")


def _whose_times(data: HeteroData, time_attr: str | None) -> TimeOf | None:
    """Whether the times are those of nodes or of edges.

    Raises:
        ValueError: Both have them, or neither.
    """
    if time_attr is None:
        return None
    of_nodes = any(time_attr in store for store in data.node_stores)
    of_edges = any(time_attr in store for store in data.edge_stores)
    if of_nodes and of_edges:
        raise ValueError(
            f"The time attribute '{time_attr}' holds both node-level and edge-level information"
        )
    if not of_nodes and not of_edges:
        raise ValueError(
            f"The time attribute '{time_attr}' is neither a node-level or edge-level attribute"
        )
    return "nodes" if of_nodes else "edges"


def _without_rows(data: HeteroData) -> HeteroData:
    """A copy that has only what belongs to the graph, or to a type of it, as a whole."""
    copied = copy.copy(data)
    for store in copied.stores:
        own = data[store._key] if store._key is not None else None  # noqa: SLF001
        if own is None:
            continue
        for name in list(store):
            value = own[name]
            is_row = own.is_edge_attr if isinstance(store._key, tuple) else own.is_node_attr  # noqa: SLF001
            is_rows = value is not None and is_row(name)
            if is_rows or name in OF_LOADERS or name in ("adj", "adj_t", "num_edges"):
                del store[name]
        vars(store).pop("_cached_attr", None)  # it is of the whole graph
    return copied
