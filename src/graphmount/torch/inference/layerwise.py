"""Inference layer by layer: the outputs for all nodes of a graph that does not fit into memory.

Each layer is one pass over the nodes in order, in blocks, each with all neighbors of its nodes: no
sampling, and no node is computed twice. What a layer gives goes to a `.gd` file for each type of
nodes, from which the next one gathers. The next block is read while the layer works on the one
before. A graph of one kind is one of one type.
"""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, overload

import torch

from graphmount._compile.feature_compiler import CompiledFeatures
from graphmount._support.arguments import as_list, require_choice, require_function
from graphmount._support.conversion import dtype_name
from graphmount._support.direction import Direction, require_direction
from graphmount._support.progress import ProgressOption, steps
from graphmount._support.shown import shown
from graphmount._support.sizes import parse_bytes
from graphmount.torch.inference.inputs import open_inputs
from graphmount.torch.inference.passes import LayerPasses

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from graphmount._dataset.dataset import Dataset
    from graphmount._dataset.typed.results import EdgeType
    from graphmount._dataset.typed_dataset import TypedDataset
    from graphmount._mount.features import FeatureStore
    from graphmount._mount.graph import Graph
    from graphmount.torch.inference.blocks import LayerBlock, TypedLayerBlock


@overload
def layerwise_inference(
    data: Dataset | tuple[Graph, FeatureStore],
    layers: Sequence[Any],
    *,
    out: str | os.PathLike[str],
    features: str = "x",
    call: Callable[[Any, LayerBlock], torch.Tensor] | None = None,
    weights: bool = False,
    direction: Direction = "in",
    dtype: torch.dtype | str | None = None,
    device: torch.device | str = "cpu",
    memory: int | str = "2GiB",
    tmp: str | os.PathLike[str] | None = None,
    progress: ProgressOption = None,
) -> CompiledFeatures: ...


@overload
def layerwise_inference(
    data: TypedDataset,
    layers: Sequence[Any],
    *,
    out: str | os.PathLike[str],
    features: str | Mapping[str, str] = "x",
    types: Sequence[str] | None = None,
    relations: Sequence[EdgeType] | None = None,
    call: Callable[[Any, TypedLayerBlock], torch.Tensor | Mapping[str, torch.Tensor]] | None = None,
    weights: bool = False,
    direction: Direction = "in",
    dtype: torch.dtype | str | None = None,
    device: torch.device | str = "cpu",
    memory: int | str = "2GiB",
    tmp: str | os.PathLike[str] | None = None,
    progress: ProgressOption = None,
) -> dict[str, CompiledFeatures]: ...


def layerwise_inference(
    data: Dataset | TypedDataset | tuple[Graph, FeatureStore],
    layers: Sequence[Any],
    *,
    out: str | os.PathLike[str],
    features: str | Mapping[str, str] = "x",
    types: Sequence[str] | None = None,
    relations: Sequence[EdgeType] | None = None,
    call: Callable[[Any, Any], Any] | None = None,
    weights: bool = False,
    direction: Direction = "in",
    dtype: torch.dtype | str | None = None,
    device: torch.device | str = "cpu",
    memory: int | str = "2GiB",
    tmp: str | os.PathLike[str] | None = None,
    progress: ProgressOption = None,
) -> CompiledFeatures | dict[str, CompiledFeatures]:
    """Applies the layers of a model to all nodes, with all their neighbors, and writes the outputs.

    The result is the same, up to rounding, as if the layers were applied to the whole graph at
    once. This holds for layers in which the output of a node depends only on its neighbors and
    itself. Whatever `layer(x, edge_index)` computes for the other nodes of a block is left out. A
    layer may need more of the neighbors than their rows, such as their degrees in a GCN. A block
    does not have these: pass them in `call`, which gets the ids of the neighbors.

    Of a `TypedDataset`, each layer goes over the nodes of one type after the other. It gets a dict
    of rows by type and a dict of edges by relation, and gives a dict of rows by type, as layers of
    PyG's `HeteroConv` and `to_hetero` do. A type that a layer gives no rows for has none in the
    next layer, as on the whole graph.

    Modules are set to evaluation mode, and back afterwards. No gradients are kept.

    Args:
        data: A `Dataset` or `TypedDataset`, or a pair of a `Graph` and the `FeatureStore` of its
            nodes.
        layers: What to apply, one after the other: modules or functions of (x, edge_index). Rows
            come as float32, or as float64 if the table or the layer before has float64.
        out: The path of the `.gd` file to write. Its rows have the order of the graph. Of a
            `TypedDataset`, the path of a folder, which is made if need be and gets a file for each
            type, such as "paper.gd".
        features: The name of the node table to begin with. Of a `TypedDataset`, types that have no
            such table begin without rows; or a dict has the name of a table for some types.
        types: Of a `TypedDataset`, the types whose outputs are wanted; all if None. Inner layers
            then leave out what these do not need.
        relations: Of a `TypedDataset`, the relations that the layers use; all if None. Others are
            not read.
        call: How to apply a layer: a function of the layer and a `LayerBlock`. It must return the
            rows of all nodes of the block, or of the first `num_targets`. Of a `TypedDataset`, it
            gets a `TypedLayerBlock`, and returns such rows of its `target_type`, or a dict of rows
            by type.
        weights: Whether blocks have the weights of their edges.
        direction: "in" collects the sources of incoming edges, "out" the targets of outgoing edges.
            `edge_index` has sources and destinations in both cases.
        dtype: How to store floats that layers return; they stay as they are if None. A value that
            does not fit is an error.
        device: The device that the layers are on.
        memory: How much memory blocks may take: their rows and edges, and about as much again for
            what a layer computes. Page cache comes on top.
        tmp: The folder for the outputs of inner layers, of which at most two exist at a time, of
            each type. The folder of `out` if None.
        progress: A callback of (done, total), in thousandths; True or False to show progress bars
            or not. None shows bars if the work takes a while.

    Returns:
        What was written; of a `TypedDataset`, by type. There, `seconds` is the time that all of it
        took.

    Raises:
        BudgetError: One node has more neighbors than fit into `memory`.
        MissingDataError: The file was compiled without this direction, or without weights.
        OrderError: Graph and features are in different orders.
        SourceError: A value cannot be stored as `dtype`.
        ValueError: A layer returns too few rows, or another number of columns than for the block
            before; or an option is wrong.

    Examples:
        >>> import graphmount as gm
        >>> import graphmount.torch
        >>> _ = gm.compile_graph(([1, 2, 0], [0, 0, 1]), "g.gl")
        >>> _ = gm.compile_features([[1.0], [2.0], [4.0]], "x.gd", dtype="float32")
        >>> def add_neighbors(x, edge_index):
        ...     return x.index_add(0, edge_index[1], x[edge_index[0]])
        >>> done = gm.torch.layerwise_inference(
        ...     (gm.Graph("g.gl"), gm.FeatureStore("x.gd")), [add_neighbors] * 2, out="y.gd"
        ... )
        >>> done.shape, gm.FeatureStore("y.gd").tensor().flatten()
        ((3, 1), tensor([14., 10.,  4.]))

        Many kinds of nodes:

        >>> lends = ("reader", "lends", "book")
        >>> _ = gm.compile_dataset(
        ...     "lending", nodes={"book": gm.Nodes(features={"x": [[1.0], [2.0], [4.0]]}),
        ...     "reader": gm.Nodes(features={"x": [[8.0], [9.0]]})},
        ...     edges={lends: ([0, 1, 1], [2, 2, 0])}, order="given",
        ... )
        >>> def add_readers(x, edge_index):
        ...     source, target = edge_index[lends]
        ...     return {**x, "book": x["book"].index_add(0, target, x["reader"][source])}
        >>> done = gm.torch.layerwise_inference(
        ...     gm.Dataset("lending"), [add_readers] * 2, out="lending-outputs", types=["book"]
        ... )
        >>> gm.FeatureStore(done["book"].path).tensor().flatten()
        tensor([19.,  2., 38.], dtype=torch.float64)
    """
    start = time.monotonic()
    layers = as_list(layers, "layers", "modules or functions")
    require_direction(direction)
    require_choice("weights", weights, (False, True))
    inputs = open_inputs(
        data, features, types=types, relations=relations, direction=direction, weights=weights
    )
    if call is not None:
        require_function("call", call)
    for number, layer in enumerate(layers if call is None else ()):
        require_function(f"layers[{number}]", layer)
    if len(layers) == 0:
        raise ValueError("layers is empty; give at least one")
    if not any(inputs.kinds.num_nodes.values()):
        raise ValueError(f"{inputs.kinds.path} has no nodes, so there is nothing to compute")
    job = LayerPasses(
        kinds=inputs.kinds,
        is_typed=inputs.is_typed,
        call=_call_plainly if call is None else call,
        dtype=None if dtype is None else dtype_name(dtype),
        device=_as_device(device),
        memory=parse_bytes(memory, "memory"),
    )
    with ExitStack() as stack:
        places = stack.enter_context(inputs.places(out, tmp))
        stack.enter_context(_evaluating(layers))
        next_step = stack.enter_context(steps(progress, len(layers)))
        done = job.run_all(layers, inputs.rows, inputs.types, places, next_step)
        if types is not None and (lacking := [name for name in inputs.types if name not in done]):
            raise ValueError(
                f"layers[{len(layers) - 1}] gave no rows for {lacking}, which types= asks for"
            )
        written = {name: rows.store for name, rows in done.items() if rows.store is not None}
        places.publish(written)
    results = {
        name: CompiledFeatures(
            path=places.final[name],
            shape=store.shape,
            dtype=str(store.dtype),
            file_bytes=store.file_bytes,
            seconds=time.monotonic() - start,
        )
        for name, store in written.items()
    }
    return results if inputs.is_typed else next(iter(results.values()))


def _as_device(device: Any) -> torch.device:  # noqa: ANN401
    try:
        return torch.device(device)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        raise ValueError(
            f"device={shown(device)} is no device of torch; write 'cpu' or 'cuda:0'"
        ) from None


def _call_plainly(layer: Any, block: LayerBlock | TypedLayerBlock) -> Any:  # noqa: ANN401
    return layer(block.x, block.edge_index)


@contextmanager
def _evaluating(layers: Sequence[Any]) -> Iterator[None]:
    """Sets modules to evaluate, and then each of their parts to what it was."""
    modules = [layer for layer in layers if isinstance(layer, torch.nn.Module)]
    before = [(part, part.training) for module in modules for part in module.modules()]
    try:
        for module in modules:
            module.eval()
        yield
    finally:
        for part, was_training in before:
            part.training = was_training
