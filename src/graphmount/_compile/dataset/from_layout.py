"""From the folder of a known dataset to one of ours: all that its layout describes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from graphmount._compile.dataset.compiler import compile_dataset
from graphmount._compile.dataset.typed_nodes import Nodes

if TYPE_CHECKING:
    import os

    from graphmount._compile.dataset.compiler import CompiledDataset
    from graphmount._compile.dataset.typed_names import Reverse
    from graphmount._sources.contract.nan import NanPolicy
    from graphmount._sources.contract.tables import Table
    from graphmount._sources.layouts.recognition import DatasetLayout
    from graphmount._sources.layouts.typed import NodesLayout, TypedLayout


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
    return compile_dataset(
        out,
        edges=layout.edges,
        features=_features(layout.features, dtype),
        labels=_labels(layout.labels, label_dtype, label_nan),
        splits={name: split.source for name, split in layout.splits.items()},
        directed=layout.directed,
        num_nodes=layout.num_nodes,
        notes=(*layout.notes, *notes),
        **options,
    )


def compile_typed_layout(
    layout: TypedLayout,
    out: str | os.PathLike[str],
    *,
    dtype: Any = None,  # noqa: ANN401  (whatever names a dtype)
    label_dtype: Any = None,  # noqa: ANN401
    label_nan: NanPolicy = "keep",
    reverse: Reverse = True,
    notes: tuple[str, ...] = (),
    **options: Any,  # noqa: ANN401
) -> CompiledDataset:
    """Writes a folder with all node types and relations; features are called "x".

    Args:
        layout: What the folder of the dataset has.
        out: The folder to write.
        dtype: How to store features; as they are if None.
        label_dtype: How to store labels; as they are if None.
        label_nan: What to do with labels that are NaN.
        reverse: Which relations are stored the other way round too.
        notes: Sentences to keep, beside those of the layout.
        options: Other options of `compile_dataset`.

    Raises:
        ValueError: The dataset's own library has both directions of each relation, and `reverse`
            is something else than True.
    """
    if layout.is_turned and reverse is not True:
        raise ValueError(
            f"{layout.kind} has both directions of every relation; leave reverse={reverse!r} out"
        )

    def nodes(given: NodesLayout) -> Nodes:
        return Nodes(
            features=_features(given.features, dtype),
            labels=_labels(given.labels, label_dtype, label_nan),
            timestamps=given.timestamps,
            splits={name: split.source for name, split in given.splits.items()},
            num_nodes=given.num_nodes,
        )

    return compile_dataset(
        out,
        nodes={name: nodes(given) for name, given in layout.nodes.items()},
        edges=layout.edges,
        reverse=reverse,
        notes=(*layout.notes, *notes),
        **options,
    )


def _features(table: Table | None, dtype: Any) -> dict[str, Table]:  # noqa: ANN401
    return {} if table is None else {"x": replace(table, dtype=dtype)}


def _labels(table: Table | None, dtype: Any, nan: NanPolicy) -> Table | None:  # noqa: ANN401
    return None if table is None else replace(table, dtype=dtype, nan=nan)
