"""Labels of a dataset: numbers, or text, which becomes the numbers of classes.

All labels are checked before anything is compiled. So a missing label, or a column of names that
was mistaken for classes, is refused at once.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount._compile.dataset.files import open_one
from graphmount._compile.rows.stored_form import fill_value
from graphmount._dataset.description import MOST_BYTES
from graphmount._sources.contract.tables import Table
from graphmount._sources.contract.text_values import TextEncoder
from graphmount._support.user_warnings import warn_user

if TYPE_CHECKING:
    from graphmount._compile.dataset.files import OpenedTable
    from graphmount._sources.contract.tables import OnError

#: The file of the labels.
LABELS_FILE = "labels.gd"
#: What classes may take of a description, of which notes may take half.
_MOST_CLASS_BYTES = MOST_BYTES // 4
#: More classes than these, if nearly all labels are different, look like names of nodes.
_MANY_CLASSES = 10_000
_DIFFERENT = 0.9
#: How names of files end that hold labels.
_EXTENSIONS = (
    *(".csv", ".tsv", ".txt", ".npy", ".npz", ".parquet", ".arrow", ".feather", ".orc", ".gd"),
    *(".gz", ".bz2", ".xz", ".zst"),
)


def as_labels(labels: Any) -> Any:  # noqa: ANN401
    """Labels as they are given, where a list of strings is made an array, unless it is of paths.

    Args:
        labels: A `Table`, or any source of rows.
    """
    if isinstance(labels, Table):
        source = as_labels(labels.source)
        return labels if source is labels.source else replace(labels, source=source)
    if not isinstance(labels, list | tuple) or not any(isinstance(one, str) for one in labels):
        return labels
    if all(_is_path(label) for label in labels):
        return labels
    array = np.empty(len(labels), object)
    array[:] = labels
    return array


def _is_path(label: object) -> bool:
    """Whether a string of a list is the path of a file rather than a label."""
    return isinstance(label, os.PathLike) or (
        isinstance(label, str)
        and bool(label)
        and (label.lower().endswith(_EXTENSIONS) or os.path.exists(label))
    )


def add_labels(
    tables: dict[str, OpenedTable], labels: object, *, on_error: OnError, memory: int
) -> list[str] | None:
    """Adds the table of labels, if there are any, to the others; returns their classes.

    Args:
        tables: By the files that they will be in.
        labels: As they are given.
        on_error: What to do with rows that cannot be read.
        memory: How much memory there is for all of the work.
    """
    if labels is None:
        return None
    tables[LABELS_FILE], classes = open_labels(labels, on_error=on_error, memory=memory)
    return classes


def open_labels(
    labels: object, *, on_error: OnError, memory: int
) -> tuple[OpenedTable, list[str] | None]:
    """The table of labels, and their classes if they are text.

    Args:
        labels: As they are given: a `Table`, or any source of rows.
        on_error: What to do with rows that cannot be read.
        memory: How much memory there is for all of the work.

    Raises:
        SourceError: A label is missing, of another type than the others, or there are too many.
        TypeError, ValueError: The table cannot be opened, or an option is wrong.
    """
    labels = as_labels(labels)
    table = labels if isinstance(labels, Table) else Table(source=labels)
    is_text = isinstance(table.dtype, str | type) and table.dtype in ("str", str)
    if is_text:
        table = replace(table, dtype=None)
    encoder = TextEncoder(most_bytes=_MOST_CLASS_BYTES, takes_numbers=is_text)
    opened = open_one(LABELS_FILE, table, on_error=on_error, encoder=encoder)
    rows = opened.rows
    if not getattr(rows, "has_text_values", False):  # users may have sources of their own
        return opened, None
    missing = fill_value(table)
    encoder.settle(rows, memory=memory // 16, missing="error" if missing is None else missing)
    classes = encoder.classes or []
    if len(classes) > _MANY_CLASSES and len(classes) > _DIFFERENT * encoder.num_values:
        warn_user(
            f"{rows.name} has {len(classes):,} different labels for {encoder.num_values:,} nodes, "
            "so this may be a column of names; if it is, choose another one: "
            "labels=gm.Table(source=…, columns=[…])"
        )
    return opened, classes


def with_classes(classes: list[str] | None) -> dict[str, Any]:
    """What a description says of the classes: nothing, if labels are numbers."""
    return {} if classes is None else {"classes": classes}
