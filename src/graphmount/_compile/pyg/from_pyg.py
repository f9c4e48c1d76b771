"""From a PyG `Data` to a dataset in one call: every attribute gets its place there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from graphmount._compile.dataset.compiler import compile_dataset
from graphmount._compile.pyg.edge_values import edge_values_of, vector_of
from graphmount._compile.pyg.from_hetero import compile_hetero_parts
from graphmount._sources.contract.tables import EdgeTable, Table
from graphmount._sources.objects.memory_edges import is_pyg
from graphmount._sources.objects.pyg_data import DataParts, hetero_parts_of, parts_of
from graphmount._support.shown import shown

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from graphmount._compile.dataset.compiler import CompiledDataset
    from graphmount._compile.dataset.typed_names import Reverse
    from graphmount._support.progress import ProgressOption

_LABELS = "y"


def from_pyg(
    data: Any,  # noqa: ANN401  (PyG is not imported here)
    out: str | os.PathLike[str],
    *,
    weights: str | None = "auto",
    timestamps: str | None = "auto",
    exclude: Iterable[str] = (),
    dtype: Any = None,  # noqa: ANN401  (of NumPy, of torch, a name, or a dict of them)
    reverse: Reverse = False,
    order: Literal["hot", "given"] | ArrayLike = "hot",
    neighbors: Literal["both", "in", "out"] = "both",
    index_dtype: Literal["int32", "int64"] | None = None,
    overwrite: bool = False,
    notes: Sequence[str] = (),
    memory: int | str = "2GiB",
    tmp: str | os.PathLike[str] | None = None,
    progress: ProgressOption = None,
) -> CompiledDataset:
    """Writes a folder with all that a PyG `Data` or `HeteroData` has: see `compile_dataset`.

    Tensors and arrays with a row for each node become node tables, and those with a row for each
    edge become edge tables. `y` becomes the labels. Masks become splits: `train_mask` is the split
    "train". A mask with several columns, as in some datasets of PyG, becomes "train_0", "train_1"
    and so on. Vectors stay vectors, and rows of more dimensions are stored as one row. The graph
    keeps the place of each edge in `edge_index`; loaders return it as `e_id` with
    `edge_ids="source"`. Attributes of the graph as a whole (`data.name`) and links to predict
    (`edge_label_index`, `edge_label`) are left out.

    A `HeteroData` becomes a dataset of many node types (`TypedDataset`), in the same way for each
    type and relation. `time` of nodes, if it has one integer for each node, becomes their times.

    Args:
        data: The `Data` or `HeteroData`, on any device except "meta".
        out: The path of the folder to write.
        weights: The edge attribute with the weights that sampling uses. It then becomes no edge
            table. "auto" takes `edge_weight` if it has one number for each edge, none of them
            negative. No weights if None.
        timestamps: The edge attribute with the times of edges. "auto" takes `edge_time`, or else
            `time`, if it has one integer for each edge. No times if None.
        exclude: The names of attributes to leave out.
        dtype: How to store node tables of floats, except the labels; or a dict with the dtypes of
            some node or edge tables, by name. They stay as they are if None.
        reverse: Of a `HeteroData`: which relations are also stored the other way round. True for
            all of them, a list of relations, or "merge": see `compile_dataset`.
        order: "hot" puts the nodes first that appear most often in the lists that sampling reads.
            "given" keeps the order of the `Data`. Or an array with one number for each node of the
            `Data`: the nodes with the highest numbers come first, and `expected_access` computes
            good ones.
        neighbors: Which neighbor lists to store: "in" (what sampling reads), "out" (what walks
            read) or "both".
        index_dtype: The dtype of stored neighbors. By default int32 for up to 2**31 nodes. "int64"
            is for libraries that want neighbors and offsets in the same dtype.
        overwrite: Whether to replace the dataset at `out`. Only a dataset is ever removed: a folder
            that is none, or that also holds other files, is refused.
        notes: Sentences to keep in `dataset.json`.
        memory: How much memory compiling may use, besides the `Data` itself.
        tmp: The folder for temporary files; the folder of `out` if None.
        progress: A callback of (done, total), in thousandths; True or False to show progress bars
            or not. None shows bars if the work takes a while.

    Returns:
        A `CompiledDataset`.

    Raises:
        SourceError: There is no `edge_index`, or an edge leads to a node that does not exist.
        TypeError: This is no `Data`, or no table can hold an attribute of nodes or edges.
        MissingDataError: There is no edge attribute of the name given as weights or times.
        FileExistsError: There is something at `out` and `overwrite` is False, or what is there is
            no dataset.
        BudgetError: The work needs more than `memory`.
        ValueError: An option is wrong.
        OSError: A file cannot be written, or the disk is full.

    Examples:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> import graphmount as gm
        >>> data = Data(
        ...     x=torch.rand(4, 2), edge_index=torch.tensor([[3, 3, 1], [0, 1, 2]]),
        ...     y=torch.tensor([0, 1, 0, 1]), train_mask=torch.tensor([True, False, False, True]),
        ... )
        >>> gm.from_pyg(data, "four").num_edges
        3
        >>> ds = gm.Dataset("four")
        >>> sorted(ds.features), sorted(ds.to_external(ds.splits["train"]).tolist())
        (['x'], [0, 3])
    """
    options: dict[str, Any] = {
        "dtype": dtype,
        "order": order,
        "neighbors": neighbors,
        "index_dtype": index_dtype,
        "overwrite": overwrite,
        "notes": notes,
        "memory": memory,
        "tmp": tmp,
        "progress": progress,
    }
    if is_pyg(data) and hasattr(data, "edge_types"):
        types = hetero_parts_of(data, exclude=exclude)
        return compile_hetero_parts(
            types, out, weights=weights, timestamps=timestamps, reverse=reverse, **options
        )
    if reverse is not False:
        raise ValueError("reverse= is for a HeteroData, which has relations")
    parts = parts_of(data, exclude=exclude)
    if parts.others:
        name, reason = next(iter(parts.others.items()))
        raise TypeError(
            f"data.{name} has a row for each node or edge, but {reason}; convert it, or leave it "
            f"out by exclude=[{name!r}]"
        )
    weights = edge_values_of(parts, weights, "weights")
    timestamps = edge_values_of(parts, timestamps, "timestamps")
    return compile_parts(
        parts,
        out,
        weights=weights,
        timestamps=timestamps,
        edge_tables=[name for name in parts.edges if name not in (weights, timestamps)],
        splits=parts.named_splits(),
        **options,
    )


def compile_parts(
    parts: DataParts,
    out: str | os.PathLike[str],
    *,
    weights: str | None,
    timestamps: str | None,
    edge_tables: Iterable[str],
    splits: Mapping[str, Any],
    dtype: Any = None,  # noqa: ANN401
    **options: Any,  # noqa: ANN401
) -> CompiledDataset:
    """Compiles the parts of a `Data`, whose edges keep their places.

    Args:
        parts: The parts.
        out: The folder to write.
        weights: The attribute of edges that is their weights, or None.
        timestamps: The attribute of edges that is their times; the times of the parts if None.
        edge_tables: The attributes that become edge tables.
        splits: Nodes by the name of the split.
        dtype: The `dtype` of `from_pyg`.
        options: Other options of `compile_dataset`.

    Raises:
        ValueError: A dtype is of no table.
    """
    ends = parts.edge_index
    if ends is None:
        ends = np.empty((2, 0), np.int64)
    labels = parts.nodes.get(_LABELS)
    nodes = {name: rows for name, rows in parts.nodes.items() if name != _LABELS}
    edges = {name: parts.edges[name] for name in edge_tables}
    if isinstance(dtype, Mapping):
        for name in dtype:
            if name not in nodes and name not in edges:
                raise ValueError(
                    f"dtype: there is no table {shown(name)}; there are {sorted([*nodes, *edges])}"
                )
        dtypes = dict(dtype)
    else:
        floats = [name for name, rows in nodes.items() if "float" in str(rows.dtype)]
        dtypes = dict.fromkeys(floats, dtype)
    return compile_dataset(
        out,
        edges=EdgeTable(
            source=(ends[0], ends[1]),
            weights=None if weights is None else vector_of(parts.edges[weights]),
            timestamps=parts.times if timestamps is None else vector_of(parts.edges[timestamps]),
        ),
        features={name: Table(source=rows, dtype=dtypes.get(name)) for name, rows in nodes.items()},
        labels=labels,
        splits=splits,
        edge_features={
            name: Table(source=rows, dtype=dtypes.get(name)) for name, rows in edges.items()
        },
        num_nodes=parts.num_nodes,
        source_rows=True,
        **options,
    )
