"""Folders of known datasets: which file of them is what.

`find_layout` looks at names only, and at a few small files; it describes what there is to compile,
and reads none of it. Of datasets with several node types, the papers and their citations are
described here, where there are any; `typed` has all of them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from graphmount._sources.contract.tables import Table
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from graphmount._sources.contract.tables import EdgeTable


@dataclass(frozen=True, kw_only=True)
class DatasetLayout:
    """What a folder of a known dataset holds.

    Attributes:
        kind: Which collection it is of: "OGB", "MAG240M" or "IGB".
        folder: The folder.
        edges: Its edges.
        features: Rows of features of the nodes, if there are any.
        labels: Labels of the nodes, if there are any. As they are: OGB's papers100M and MAG240M
            have floats, NaN where a paper has no label.
        splits: Ids of nodes by the name of the split, such as "train", "valid" and "test".
        num_nodes: How many nodes there are, if a file says so.
        directed: False if each edge is stored once and is meant to run both ways.
        notes: What one should know, in whole sentences.
    """

    kind: str
    folder: str
    edges: EdgeTable
    features: Table | None = None
    labels: Table | None = None
    splits: dict[str, Table] = field(default_factory=dict)
    num_nodes: int | None = None
    directed: bool = True
    notes: tuple[str, ...] = ()


#: What is looked for, for messages.
_LOOKED_FOR = (
    "raw/edge.csv.gz with raw/num-node-list.csv.gz (OGB, as ogbn-arxiv)",
    "raw/data.npz (OGB, as ogbn-papers100M)",
    "processed/paper___cites___paper/edge_index.npy (MAG240M)",
    "processed/paper__cites__paper/edge_index.npy (IGB)",
    "raw/triplet-type-list.csv.gz with raw/num-node-dict.csv.gz (OGB, as ogbn-mag)",
    "manifest.yaml with db/ (RelBench)",
)


def table_at(path: str, **options: Any) -> Table | None:  # noqa: ANN401
    """The table of a file, read by these options; None if there is no such file."""
    return Table(source=path, **options) if os.path.exists(path) else None


def find_layout(folder: str | os.PathLike[str]) -> DatasetLayout:
    """Recognises the folder of a dataset.

    Args:
        folder: The folder, as the dataset's own library made it.

    Returns:
        A `DatasetLayout`.

    Raises:
        NotADirectoryError, FileNotFoundError: It is not a folder.
        SourceError: It is of no known layout, or has several kinds of nodes; the message says
            what was looked for.
    """
    from graphmount._sources.layouts.igb import igb_layout
    from graphmount._sources.layouts.mag240m import mag240m_layout
    from graphmount._sources.layouts.ogb import ogb_archive_layout, ogb_layout, refuse_kinds

    path = os.fspath(folder)
    names = set(os.listdir(path))  # or the error that Python has for it

    def has(name: str) -> bool:
        return os.path.exists(os.path.join(path, name))

    if has("raw") or has("split"):
        refuse_kinds(path)
    if has("raw/edge.csv.gz") and has("raw/num-node-list.csv.gz"):
        return ogb_layout(path)
    if has("raw/data.npz"):
        return ogb_archive_layout(path)
    if has("processed/paper___cites___paper/edge_index.npy"):
        return mag240m_layout(path)
    if has("processed/paper__cites__paper/edge_index.npy"):
        return igb_layout(path)
    raise SourceError(
        f"{path} is not the folder of a dataset that is known; it has none of "
        f"{'; '.join(_LOOKED_FOR)}" + _hint(path, sorted(names))
    )


def _hint(path: str, names: list[str]) -> str:
    """A folder within it that may be what was meant."""
    for name in names:
        inner = os.path.join(path, name)
        if os.path.isdir(inner) and {"raw", "processed"} & set(os.listdir(inner)):
            return f". Did you mean {inner}?"
    return ""
