"""From the folder of a known dataset to one of ours: all that its layout describes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from graphmount._compile.dataset.compiler import compile_dataset

if TYPE_CHECKING:
    import os

    from graphmount._compile.dataset.compiler import CompiledDataset
    from graphmount._sources.contract.nan import NanPolicy
    from graphmount._sources.layouts.recognition import DatasetLayout


def compile_layout(
    layout: DatasetLayout,
    out: str | os.PathLike[str],
    *,
    dtype: Any = None,  # noqa: ANN401  (whatever names a dtype)
    label_dtype: Any = None,  # noqa: ANN401
    label_nan: NanPolicy = "keep",
    notes: tuple[str, ...] = (),
    **options: Any,  # noqa: ANN401
) -> CompiledDataset:
    """Writes a folder with edges, features (as "x"), labels and splits.

    Args:
        layout: What the folder of the dataset has.
        out: The folder to write.
        dtype: How to store features; as they are if None.
        label_dtype: How to store labels; as they are if None.
        label_nan: What to do with labels that are NaN.
        notes: Sentences to keep, beside those of the layout.
        options: Other options of `compile_dataset`.
    """
    features, labels = {}, None
    if layout.features is not None:
        features["x"] = replace(layout.features, dtype=dtype)
    if layout.labels is not None:
        labels = replace(layout.labels, dtype=label_dtype, nan=label_nan)
    return compile_dataset(
        out,
        edges=layout.edges,
        features=features,
        labels=labels,
        splits={name: split.source for name, split in layout.splits.items()},
        directed=layout.directed,
        num_nodes=layout.num_nodes,
        notes=(*layout.notes, *notes),
        **options,
    )
