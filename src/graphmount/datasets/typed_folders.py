"""Folders of datasets with several node types: opened if they were compiled before, or compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from graphmount._compile.dataset.from_layout import compile_layout, compile_typed_layout
from graphmount._sources.layouts.recognition import find_layout
from graphmount._sources.layouts.typed import files_of, find_typed_layout
from graphmount.datasets.compiled import content_of, open_or_compile
from graphmount.datasets.options import require_known

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphmount._compile.dataset.compiler import CompiledDataset
    from graphmount._compile.dataset.typed_names import Reverse
    from graphmount._dataset.dataset import Dataset
    from graphmount._dataset.typed_dataset import TypedDataset

#: Labels of the papers of these datasets are floats, and NaN where there is none.
INTEGER_LABELS = {"label_dtype": "int64", "label_nan": -1}


def open_folder(
    name: str,
    folder: str,
    options: Mapping[str, Any],
    *,
    reverse: Reverse | None = None,
    labels: Mapping[str, Any] | None = None,
) -> TypedDataset | Dataset:
    """The dataset in the folder of a known dataset.

    Args:
        name: What the dataset is called.
        folder: The folder.
        options: `DatasetOptions`.
        reverse: Which relations are stored the other way round too; None if that is not asked.
        labels: Options of labels.

    Raises:
        SourceError: It is not the folder of a known dataset, or a file is missing or damaged.
    """
    left = dict(options)
    require_known(left)
    typed = find_typed_layout(folder)
    own = dict(labels or {})
    if typed is not None:
        content = content_of(folder, typed.files, name)
        if reverse is not None:
            left["reverse"] = reverse

        def compile_types(out: str, **more: Any) -> CompiledDataset:  # noqa: ANN401
            return compile_typed_layout(typed, out, **own, **more)

        return open_or_compile(name, folder, content, compile_types, left)
    layout = find_layout(folder)
    tables = iter((layout.edges, layout.features, layout.labels, *layout.splits.values()))
    content = content_of(folder, files_of(folder, tables), name)

    def compile_one(out: str, **more: Any) -> CompiledDataset:  # noqa: ANN401
        return compile_layout(layout, out, **own, **more)

    return open_or_compile(name, folder, content, compile_one, left)


def open_types(
    name: str,
    folder: str,
    options: Mapping[str, Any],
    *,
    reverse: Reverse | None = None,
    labels: Mapping[str, Any] | None = None,
) -> TypedDataset:
    """As `open_folder`, for a dataset that always has several node types."""
    opened = open_folder(name, folder, options, reverse=reverse, labels=labels)
    return cast("TypedDataset", opened)
