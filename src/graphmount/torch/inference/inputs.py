"""What `layerwise_inference` is given, checked: types, relations, and the rows to begin with."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from graphmount._dataset.dataset import Dataset
from graphmount._dataset.description import named_files
from graphmount._dataset.typed_dataset import TypedDataset
from graphmount._mount.features import FeatureStore
from graphmount._mount.graph import Graph
from graphmount._mount.order import check_order
from graphmount._support.arguments import as_list, require_type
from graphmount._support.shown import shown
from graphmount.errors import MissingDataError
from graphmount.torch.inference.kinds import (
    ONE_TYPE,
    Kinds,
    LayerRows,
    kinds_of_dataset,
    kinds_of_graph,
    precision_of,
)
from graphmount.torch.inference.places import Places, one_file, one_folder

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from graphmount._support.direction import Direction


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """What is computed, and from what.

    Attributes:
        kinds: Types and relations.
        rows: The rows of types to begin with.
        types: The types whose outputs are wanted.
        is_typed: Whether layers get and give dicts.
        sources: All that is read on the way, which may not be overwritten.
    """

    kinds: Kinds
    rows: Mapping[str, LayerRows]
    types: tuple[str, ...]
    is_typed: bool
    sources: tuple[object, ...]

    def places(
        self, out: str | os.PathLike[str], tmp: str | os.PathLike[str] | None
    ) -> AbstractContextManager[Places]:
        """Where outputs go."""
        if self.is_typed:
            return one_folder(out, tmp, self.types, self.sources)
        return one_file(out, tmp, self.sources)


def open_inputs(
    data: Any,  # noqa: ANN401
    features: Any,  # noqa: ANN401
    *,
    types: Any,  # noqa: ANN401
    relations: Any,  # noqa: ANN401
    direction: Direction,
    weights: bool,
) -> Inputs:
    """What was given.

    Raises:
        ValueError: There is no such type, relation or table.
        MissingDataError: There are no weights.
    """
    if isinstance(data, TypedDataset):
        return _of_many(
            data, features, types=types, relations=relations, direction=direction, weights=weights
        )
    for name, value in (("types", types), ("relations", relations)):
        if value is not None:
            raise ValueError(f"{name}={shown(value)} is for a TypedDataset; leave it out")
    graph, store = _of_one(data, features)
    if weights and not graph.has_weights:
        raise MissingDataError(f"{graph.path} has no weights; compile it with weights=")
    return Inputs(
        kinds=kinds_of_graph(graph, direction=direction, weights=weights),
        rows={ONE_TYPE: _rows_of(store)},
        types=(ONE_TYPE,),
        is_typed=False,
        sources=(graph, store, _files_of(data)),
    )


def _of_one(data: Any, features: Any) -> tuple[Graph, FeatureStore]:  # noqa: ANN401
    if isinstance(data, Dataset):
        require_type("features", features, str, "the name of a table")
        if features not in data.features:
            raise ValueError(
                f"features: there is no table {features!r} in {data.path}; there are "
                f"{sorted(data.features)}"
            )
        return data.graph, data.features[features]
    graph, store = data if isinstance(data, tuple) and len(data) == 2 else (None, None)
    if not isinstance(graph, Graph) or not isinstance(store, FeatureStore):
        raise TypeError(
            f"data must be a Dataset or (Graph, FeatureStore), or a TypedDataset, not {shown(data)}"
        )
    check_order(graph, store)
    return graph, store


def _of_many(
    data: TypedDataset,
    features: Any,  # noqa: ANN401
    *,
    types: Any,  # noqa: ANN401
    relations: Any,  # noqa: ANN401
    direction: Direction,
    weights: bool,
) -> Inputs:
    known = data._sampling.relations  # noqa: SLF001  (a friend)
    chosen = data.edge_types
    if relations is not None:
        given = as_list(relations, "relations", "relations of the dataset")
        chosen = tuple(known.relation(each, "relations") for each in given)
    if not chosen:
        raise ValueError(f"relations is empty; there are {', '.join(map(str, data.edge_types))}")
    graphs = [data.edges[relation].graph for relation in chosen]
    if weights and not any(graph.has_weights for graph in graphs):
        raise MissingDataError(
            f"no relation of {data.path} that is used has weights; compile it with weights="
        )
    wanted = data.node_types
    if types is not None:
        names = as_list([types] if isinstance(types, str) else types, "types", "node types")
        wanted = tuple(known.type(name, "types") for name in names)
        if not wanted:
            raise ValueError(f"types is empty; there are {', '.join(map(repr, data.node_types))}")
    return Inputs(
        kinds=kinds_of_dataset(data, chosen, direction=direction, weights=weights),
        rows={name: _rows_of(store) for name, store in _tables(data, features).items()},
        types=tuple(dict.fromkeys(wanted)),
        is_typed=True,
        sources=(_files_of(data),),
    )


def _tables(data: TypedDataset, features: Any) -> dict[str, FeatureStore]:  # noqa: ANN401
    """The table that each type begins with, of those that have one."""
    if isinstance(features, Mapping):
        chosen = {}
        for name, table in features.items():
            nodes = data.nodes[data._sampling.relations.type(name, "features")]  # noqa: SLF001
            require_type(f"features[{name!r}]", table, str, "the name of a table")
            if table not in nodes.features:
                raise ValueError(
                    f"features[{name!r}]: there is no table {table!r} of that type; there are "
                    f"{sorted(nodes.features)}"
                )
            chosen[name] = nodes.features[table]
        return chosen
    require_type("features", features, str, "the name of a table, or a dict of them by type")
    found = {
        name: nodes.features[features]
        for name, nodes in data.nodes.items()
        if features in nodes.features
    }
    if not found:
        there = sorted({table for nodes in data.nodes.values() for table in nodes.features})
        raise ValueError(
            f"features: no type has a table {features!r} in {data.path}; there are {there}"
        )
    return found


def _rows_of(store: FeatureStore) -> LayerRows:
    return LayerRows(store.shape[1:], precision_of(getattr(torch, str(store.dtype))), store)


def _files_of(data: Any) -> list[str]:  # noqa: ANN401
    """All files of a dataset, which would not be whole without one of them."""
    if not isinstance(data, Dataset | TypedDataset):
        return []
    return [os.path.join(data.path, file) for _, _, file in named_files(data.description)]
