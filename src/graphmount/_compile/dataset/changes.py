"""Changes an existing dataset: adds or removes tables, labels and splits, one at a time.

The graph and the order of the nodes stay. A change happens completely or not at all: the new file
is written beside the folder and put into it under a free name, and then the description is replaced
in one step. Programs that have the dataset open keep the old state; programs that open it
afterwards see the new one. A lock keeps two changes apart.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._compile.dataset.files import file_of, open_one, with_columns, write_description
from graphmount._compile.dataset.labels import LABELS_FILE, open_labels, with_classes
from graphmount._compile.dataset.splits import read_split
from graphmount._compile.edges.graph_options import as_budget
from graphmount._compile.feature_compiler import compile_features, compile_table
from graphmount._compile.output.atomic_folder import filled_beside, note_file
from graphmount._compile.output.path import temporary_place
from graphmount._compile.output.replacement import remove_unnamed
from graphmount._compile.rows.placement import require_order
from graphmount._dataset.description import named_files, read_description
from graphmount._dataset.description_fields import DESCRIPTION
from graphmount._dataset.opening import changed, shown_kind
from graphmount._mount.graph import Graph
from graphmount._mount.mapped_reads import require_source_rows
from graphmount._mount.node_reading import source_numbers, to_internal
from graphmount._support.arguments import require_choice, require_type
from graphmount._support.files.opened_folder import OpenedFolder
from graphmount._support.files.temporary_folders import require_own_process
from graphmount._support.shown import shown
from graphmount.errors import OrderError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from graphmount._compile.dataset.files import OpenedTable
    from graphmount._dataset.dataset import Dataset
    from graphmount._mount.node_ids import IdReading
    from graphmount._sources.contract.batches import RowSource
    from graphmount._support.progress import ProgressOption


def add_table(
    dataset: Dataset,
    kind: str,
    name: str | None,
    table: Any,  # noqa: ANN401
    *,
    overwrite: bool,
    memory: int | str,
    tmp: str | os.PathLike[str] | None,
    progress: ProgressOption,
) -> None:
    """Adds a node or edge table, or sets the labels, which have no name.

    Args:
        dataset: The dataset, whose graph says how many rows there must be, and in which order.
        kind: "features", "edge_features" or "labels".
        name: The name of the table.
        table: A `Table`, or any source of rows.
        overwrite: Whether a table of this name may be replaced.
        memory: How much memory to use besides the source.
        tmp: The folder for temporary files; beside the dataset if None.
        progress: A callback of (bytes done, bytes in all); True or False for a bar or none.
    """
    graph = dataset.graph
    require_choice("overwrite", overwrite, (False, True))
    budget = as_budget(memory)
    classes = None
    if name is None:
        file = LABELS_FILE
        opened, classes = open_labels(table, on_error="raise", memory=budget)
    else:
        file = file_of(kind, name)
        opened = open_one(file, table, on_error="raise")
    belongs: dict[str, Any]
    if kind == "edge_features":
        require_source_rows(graph)  # in whose order the table comes
        belongs = {"edges": graph}
    else:
        belongs = {"graph": graph, "new_ids": _places_of_rows(opened.rows, graph)}
    with _change(dataset) as change:
        change.require_free(kind, name, overwrite=overwrite)
        compile_table(
            opened.rows,
            opened.table,
            change.new_file,
            **belongs,
            folder=temporary_place(tmp, change.new_file),
            memory=budget,
            progress=progress,
        )
        change.put(kind, name, file, classes, opened)


def set_split(
    dataset: Dataset,
    name: str,
    nodes: Any,  # noqa: ANN401
    *,
    ids: IdReading | None,
) -> None:
    """Adds a split, or replaces one.

    Args:
        dataset: The dataset.
        name: The name of the split.
        nodes: Ids, a mask, or the path of a file of ids.
        ids: Which ids they are, "internal" or "external"; None if there is no doubt.
    """
    file = file_of("splits", name)
    if isinstance(nodes, str | os.PathLike):
        nodes = read_split(nodes, f"split {name!r}")
    found = to_internal(nodes, f"split {name!r}", dataset.graph, ids)
    with _change(dataset) as change:
        compile_features(found, change.new_file, progress=False)
        change.put("splits", name, file)


def remove(dataset: Dataset, name: str, *, kind: str | None) -> None:
    """Removes a table, a split, or the labels, which are called "labels".

    Args:
        dataset: The dataset.
        name: The name of the table or of the split.
        kind: "features", "edge_features", "splits" or "labels"; needed if two have the name.
    """
    require_type("name", name, str, "the name of a table or a split")
    require_choice("kind", kind, (None, "features", "edge_features", "splits", "labels"))
    with _change(dataset) as change:
        change.drop(*change.find(name, kind))


def _places_of_rows(rows: RowSource, graph: Graph) -> NDArray[np.int64] | None:
    """The node of each row of a table without keys, or None if it has keys, or the graph's order.

    Raises:
        OrderError: The table is in the order of another graph; or rows without keys have no order.
    """
    if rows.has_keys:
        return None
    require_order(rows, graph.order, graph.path)
    if rows.order == graph.order or graph.node_id_type is None:
        return None
    numbers = source_numbers(graph)
    if numbers is None:
        raise OrderError(
            f"{rows.name} has no keys, and the ids of the source are not the numbers 0, 1, 2, …, "
            "so nobody knows which node a row is of; pass Table(source=…, key=…) with the ids"
        )
    places = np.empty(graph.num_nodes, np.int64)
    places[numbers] = np.arange(graph.num_nodes)
    return places


@dataclass(kw_only=True)
class _Change:
    """A change that is under way.

    Attributes:
        path: The folder of the dataset.
        opened: The same, open.
        folder: The folder beside it that new files are written to.
        description: What the description will say.
        files: Files that come or go: those that are not named in the end are removed.
        process: The process that makes the change; a forked child must not go on with it.
    """

    path: str
    opened: OpenedFolder
    folder: str
    description: dict[str, Any]
    files: list[str]
    process: int

    @property
    def new_file(self) -> str:
        """Where to write the new file."""
        return os.path.join(self.folder, "new.gd")

    @property
    def there(self) -> dict[tuple[str, str | None], str]:
        """The files of tables, labels and splits, by their kind and name; labels have no name."""
        return {
            (kind, name): file
            for kind, name, file in named_files(self.description)
            if kind != "graph"
        }

    def require_free(self, kind: str, name: str | None, *, overwrite: bool) -> None:
        """Raises if there is such a table, and it may not be replaced."""
        if (kind, name) in self.there and not overwrite:
            raise FileExistsError(
                f"{self.path} has {shown_kind(kind, name)}; pass overwrite=True to replace it, or "
                "choose another name"
            )

    def put(
        self,
        kind: str,
        name: str | None,
        file: str,
        classes: list[str] | None = None,
        table: OpenedTable | None = None,
    ) -> None:
        """Puts the new file into the folder, where no version of the dataset looks for it yet."""
        used = self.there.values()
        stem, number = file.removesuffix(".gd"), 1
        while file in used:
            number += 1
            file = f"{stem}.{number}.gd"
        self._note(file)
        self.opened.put(self.new_file, file)
        self.drop(kind, name)
        if name is None:
            self.description |= {kind: file, **with_classes(classes)}
        else:
            self.description[kind][name] = file
        if table is not None:
            named = with_columns({file: table}).get("columns", {})
            self._set_columns(self.description.get("columns", {}) | named)

    def _set_columns(self, columns: dict[str, list[str]]) -> None:
        self.description.pop("columns", None)
        if columns:
            self.description["columns"] = columns

    def find(self, name: str, kind: str | None) -> tuple[str, str | None]:
        """The kind of what has this name, and its name in the description."""
        there = self.there
        found = [one for one in there if name == (one[1] or one[0]) and kind in (None, one[0])]
        if len(found) == 1:
            return found[0]
        if found:
            kinds = " or ".join(repr(one[0]) for one in found)
            raise ValueError(f"{self.path} has {name!r} more than once; say which by kind={kinds}")
        in_order = sorted(there, key=lambda one: one[1] is None)  # labels last
        all_of_them = ", ".join(shown_kind(*one) for one in in_order) or "no tables"
        raise ValueError(f"{self.path} has no {shown(name)}; it has {all_of_them}")

    def drop(self, kind: str, name: str | None) -> None:
        """Forgets a table, if there is one; with labels go their classes."""
        file = self.there.get((kind, name))
        self._note(file)
        columns = self.description.get("columns", {})
        self._set_columns({one: names for one, names in columns.items() if one != file})
        if name is None:
            self.description[kind] = None
            self.description.pop("classes", None)
        else:
            self.description[kind].pop(name, None)

    def _note(self, file: str | None) -> None:
        require_own_process(self.process, self.path)
        if file is not None:
            self.files.append(file)
            note_file(self.folder, file)


@contextmanager
def _change(dataset: Dataset) -> Iterator[_Change]:
    """Holds the lock of the dataset while a change is made, which takes effect at the end.

    Raises:
        DatasetChangedError: Another graph is in the folder by now.
        BlockingIOError: Another process is changing or compiling it.
    """
    path, process = dataset.path, os.getpid()
    with filled_beside(path) as folder, OpenedFolder(path) as opened:
        description = read_description(opened)
        with Graph._open_inside(opened, description["graph"]) as graph:  # noqa: SLF001
            if graph._content != dataset.graph._content:  # noqa: SLF001
                raise changed(
                    path, "has another graph by now: it was replaced; open it again, and try again"
                )
        change = _Change(
            path=path,
            opened=opened,
            folder=folder,
            description=description,
            files=[],
            process=process,
        )
        try:
            yield change
            require_own_process(process, path)
            for name in ("files", "graphmount"):  # which are written anew
                description.pop(name, None)
            write_description(folder, files_in=path, **description)
            opened.put(os.path.join(folder, DESCRIPTION), DESCRIPTION)
        finally:
            if os.getpid() == process:
                remove_unnamed(path, change.files)
