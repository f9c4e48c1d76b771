"""What lies where in the folder of a dataset, and what describes it."""

from __future__ import annotations

import json
import os
import re
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from graphmount._dataset_nodes import as_nodes
from graphmount.dataset import DESCRIPTION, VERSION
from graphmount.feature_compiler import compile_features
from graphmount.tables import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from graphmount.graph import Graph


def as_tables(tables: Mapping[str, Any] | None, kind: str) -> dict[str, Table]:
    """Tables by the file they will be in."""
    return {
        _file_of(kind, name): table if isinstance(table, Table) else Table(source=table)
        for name, table in (tables or {}).items()
    }


def _file_of(kind: str, name: object) -> str:
    if not isinstance(name, str) or not re.fullmatch(r"[\w][\w .-]*", name):
        raise ValueError(
            f"{kind}: {name!r} cannot be the name of a file; use letters, digits, '_', '-' and '.'"
        )
    return f"{kind}/{name}.gd"


def name_of(file: str) -> str:
    """The name under which a table of this file was given."""
    return os.path.basename(file).removesuffix(".gd")


def shown_name(file: str) -> str:
    """What messages call a table of this file: as it was given, "features 'x'" or "labels"."""
    kind = os.path.dirname(file)
    return f"{kind} {name_of(file)!r}" if kind else name_of(file)


def write_splits(
    splits: Mapping[str, Any],
    folder: str,
    graph: Graph,
    *,
    new_ids: NDArray[np.int64] | None,
    has_order: bool,
) -> dict[str, str]:
    """Writes the nodes of each split; returns the files by name."""
    files = {}
    for name, split in splits.items():
        files[name] = _file_of("splits", name)
        os.makedirs(os.path.join(folder, "splits"), exist_ok=True)
        nodes = as_nodes(split, name, graph, new_ids=new_ids, has_order=has_order)
        compile_features(nodes, os.path.join(folder, files[name]), progress=False)
    return files


def write_description(folder: str, **description: object) -> None:
    """Writes what makes the folder a dataset."""
    whole = {
        "kind": "graphmount dataset",
        "version": VERSION,
        "graphmount": version("graphmount"),
        **description,
        # For graphs with several kinds of nodes and edges, which there are none of yet.
        "node_types": None,
        "edge_types": None,
    }
    with open(os.path.join(folder, DESCRIPTION), "w", encoding="utf-8") as file:
        json.dump(whole, file, indent=2, ensure_ascii=False)
        file.flush()
        os.fsync(file.fileno())


def folder_bytes(path: str) -> int:
    """The size of all files in a folder."""
    return sum(
        os.path.getsize(os.path.join(folder, file))
        for folder, _, files in os.walk(path)
        for file in files
    )
