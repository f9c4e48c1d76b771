"""One change of a dataset that is under way: new files, and what the description will say.

A change happens completely or not at all: a new file is written beside the folder and put into it
under a free name, and then the description is replaced in one step. Programs that have the dataset
open keep the old state; programs that open it afterwards see the new one. A lock keeps two changes
apart.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphmount._compile.dataset.files import with_columns, write_description
from graphmount._compile.dataset.labels import with_classes
from graphmount._compile.output.atomic_folder import filled_beside, note_file
from graphmount._compile.output.replacement import remove_unnamed
from graphmount._dataset.description import named_files, read_description
from graphmount._dataset.description_fields import DESCRIPTION
from graphmount._dataset.opening import shown_kind
from graphmount._support.files.opened_folder import OpenedFolder
from graphmount._support.files.temporary_folders import require_own_process
from graphmount._support.shown import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphmount._compile.changes.targets import Part, Target
    from graphmount._compile.dataset.files import OpenedTable


@dataclass(kw_only=True)
class Change:
    """A change that is under way.

    Attributes:
        path: The folder of the dataset.
        opened: The same, open.
        folder: The folder beside it that new files are written to.
        description: What the description will say.
        parts: The parts of the description that are changed, at least one.
        files: Files that come or go: those that are not named in the end are removed.
        process: The process that makes the change; a forked child must not go on with it.
    """

    path: str
    opened: OpenedFolder
    folder: str
    description: dict[str, Any]
    parts: list[Part]
    files: list[str]
    process: int

    @property
    def new_file(self) -> str:
        """Where to write the new file."""
        return os.path.join(self.folder, "new.gd")

    def require_free(self, kind: str, name: str | None, *, overwrite: bool) -> None:
        """Raises if there is such a table, and it may not be replaced."""
        for part in self.parts:
            if (kind, name) in part.files() and not overwrite:
                raise FileExistsError(
                    f"{part.shown} has {shown_kind(kind, name)}; pass overwrite=True to replace "
                    "it, or choose another name"
                )

    def put(
        self,
        part: Part,
        kind: str,
        name: str | None,
        file: str,
        *,
        classes: list[str] | None = None,
        table: OpenedTable | None = None,
    ) -> None:
        """Puts the new file into the folder, where no version of the dataset looks for it yet.

        Args:
            part: The part that it belongs to.
            kind: What it is in this part.
            name: Its name; None for labels and times.
            file: Its path from the folder of the part on, or one like it, if that is taken.
            classes: The texts of labels that were text.
            table: Where it comes from, if that may have names of columns.
        """
        used = {other for _, _, other in named_files(self.description)}
        file = part.folder + file
        stem, number = file.removesuffix(".gd"), 1
        while file in used:
            number += 1
            file = f"{stem}.{number}.gd"
        self._note(file)
        self.opened.put(self.new_file, file)
        self._drop(part, kind, name)
        if name is None:
            part.entry[kind] = file
            if kind == "labels":
                part.entry.update(with_classes(classes))
        else:
            part.entry[kind][name] = file
        if table is not None:
            named = with_columns({file: table}).get("columns", {})
            self._set_columns(self.description.get("columns", {}) | named)

    def _set_columns(self, columns: dict[str, list[str]]) -> None:
        self.description.pop("columns", None)
        if columns:
            self.description["columns"] = columns

    def find(self, name: str, kind: str | None) -> tuple[str, str | None]:
        """The kind of what has this name in the first part, and its name in the description."""
        part = self.parts[0]
        there = part.files()
        found = [one for one in there if name == (one[1] or one[0]) and kind in (None, one[0])]
        if len(found) == 1:
            return found[0]
        if found:
            kinds = " or ".join(repr(one[0]) for one in found)
            raise ValueError(f"{part.shown} has {name!r} more than once; say which by kind={kinds}")
        in_order = sorted(there, key=lambda one: one[1] is None)  # labels last
        all_of_them = ", ".join(shown_kind(*one) for one in in_order) or "no tables"
        raise ValueError(f"{part.shown} has no {shown(name)}; it has {all_of_them}")

    def drop(self, kind: str, name: str | None) -> None:
        """Forgets a table in all parts, as far as they have it; with labels go their classes."""
        for part in self.parts:
            self._drop(part, kind, name)

    def _drop(self, part: Part, kind: str, name: str | None) -> None:
        file = part.files().get((kind, name))
        self._note(file)
        columns = self.description.get("columns", {})
        self._set_columns({one: names for one, names in columns.items() if one != file})
        if name is not None:
            part.entry[kind].pop(name, None)
            return
        part.entry[kind] = None
        if kind == "labels":
            part.entry.pop("classes", None)

    def _note(self, file: str | None) -> None:
        require_own_process(self.process, self.path)
        if file is not None:
            self.files.append(file)
            note_file(self.folder, file)


@contextmanager
def changing(target: Target) -> Iterator[Change]:
    """Holds the lock of the dataset while a change is made, which takes effect at the end.

    Raises:
        DatasetChangedError: Other nodes or edges are in the folder by now.
        BlockingIOError: Another process is changing or compiling it.
    """
    path, process = target.path, os.getpid()
    with filled_beside(path) as folder, OpenedFolder(path) as opened:
        description = read_description(opened)
        target.require_same(opened, description)
        change = Change(
            path=path,
            opened=opened,
            folder=folder,
            description=description,
            parts=target.parts(description),
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
