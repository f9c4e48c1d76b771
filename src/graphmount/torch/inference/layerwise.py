"""Inference layer by layer: the outputs for all nodes of a graph that does not fit into memory.

Each layer is one pass over the nodes in order, in blocks, each with all neighbors of its nodes: no
sampling, and no node is computed twice. What a layer gives goes to a `.gd` file, from which the
next one gathers. The next block is read while the layer works on the one before.
"""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from graphmount._compile.feature_compiler import CompiledFeatures
from graphmount._compile.output.path import output_path, temporary_place
from graphmount._dataset.dataset import Dataset
from graphmount._mount.features import FeatureStore
from graphmount._mount.graph import Graph
from graphmount._mount.order import check_order
from graphmount._support.arguments import as_list, require_choice, require_function, require_type
from graphmount._support.conversion import dtype_name
from graphmount._support.direction import Direction, require_direction
from graphmount._support.files.temporary_folders import temporary_folder
from graphmount._support.progress import ProgressOption, reporting, steps
from graphmount._support.shown import shown
from graphmount._support.sizes import parse_bytes
from graphmount._support.threads.read_ahead import read_ahead
from graphmount.errors import MissingDataError
from graphmount.torch.inference.blocks import LayerBlock, layer_blocks
from graphmount.torch.inference.output import LayerOutput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from graphmount._support.conversion import DTypeName


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
) -> CompiledFeatures:
    """Applies the layers of a model to all nodes, with all their neighbors, and writes the outputs.

    The result is the same, up to rounding, as if the layers were applied to the whole graph at
    once. This holds for layers in which the output of a node depends only on its neighbors and
    itself. Whatever `layer(x, edge_index)` computes for the other nodes of a block is left out. A
    layer may need more of the neighbors than their rows, such as their degrees in a GCN. A block
    does not have these: pass them in `call`, which gets the ids of the neighbors.

    Modules are set to evaluation mode, and back afterwards. No gradients are kept.

    Args:
        data: A `Dataset`, or a pair of a `Graph` and the `FeatureStore` of its nodes.
        layers: What to apply, one after the other: modules or functions of (x, edge_index). Rows
            come as float32, or as float64 if the table or the layer before has float64.
        out: The path of the `.gd` file to write. Its rows have the order of the graph.
        features: The name of the node table to begin with.
        call: How to apply a layer: a function of the layer and a `LayerBlock`. It must return the
            rows of all nodes of the block, or of the first `num_targets`.
        weights: Whether blocks have the weights of their edges.
        direction: "in" collects the sources of incoming edges, "out" the targets of outgoing edges.
            `edge_index` has sources and destinations in both cases.
        dtype: How to store floats that layers return; they stay as they are if None. A value that
            does not fit is an error.
        device: The device that the layers are on.
        memory: How much memory blocks may take: their rows and edges, and about as much again for
            what a layer computes. Page cache comes on top.
        tmp: The folder for the outputs of inner layers, of which at most two exist at a time. The
            folder of `out` if None.
        progress: A callback of (done, total), in thousandths; True or False to show progress bars
            or not. None shows bars if the work takes a while.

    Returns:
        What was written.

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
    """
    start = time.monotonic()
    layers = as_list(layers, "layers", "modules or functions")
    graph, store = _inputs(data, features)
    if call is not None:
        require_function("call", call)
    for number, layer in enumerate(layers if call is None else ()):
        require_function(f"layers[{number}]", layer)
    require_direction(direction)
    require_choice("weights", weights, (False, True))
    if weights and not graph.has_weights:
        raise MissingDataError(f"{graph.path} has no weights; compile it with weights=")
    if len(layers) == 0:
        raise ValueError("layers is empty; give at least one")
    if graph.num_nodes == 0:
        raise ValueError(f"{graph.path} has no nodes, so there is nothing to compute")
    path = output_path(out, graph, store, _files_of(data))
    folder = temporary_place(tmp, path)
    job = _Job(
        graph=graph,
        direction=direction,
        weights=weights,
        call=_call_plainly if call is None else call,
        dtype=None if dtype is None else dtype_name(dtype),
        device=_as_device(device),
        memory=parse_bytes(memory, "memory"),
    )
    dtype_of_rows = _precision(getattr(torch, str(store.dtype)))
    with ExitStack() as stack:
        inner = stack.enter_context(temporary_folder(folder, prefix=".layerwise-"))
        stack.enter_context(_evaluating(layers))
        next_step = stack.enter_context(steps(progress, len(layers)))
        for number, layer in enumerate(layers):
            is_last = number == len(layers) - 1
            target = path if is_last else os.path.join(inner, f"{number}.gd")
            with reporting(
                next_step(), f"layer {number + 1} of {len(layers)}", in_bytes=False
            ) as report:
                dtype_of_rows = job.run(
                    layer, f"layers[{number}]", store, target, dtype=dtype_of_rows, report=report
                )
            if number > 0:  # what came before is not needed any more
                store.close()
                os.unlink(store.path)
            store = FeatureStore(target)
    return CompiledFeatures(
        path=path,
        shape=store.shape,
        dtype=str(store.dtype),
        file_bytes=store.file_bytes,
        seconds=time.monotonic() - start,
    )


def _as_device(device: Any) -> torch.device:  # noqa: ANN401
    try:
        return torch.device(device)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        raise ValueError(
            f"device={shown(device)} is no device of torch; write 'cpu' or 'cuda:0'"
        ) from None


def _files_of(data: Any) -> list[str]:  # noqa: ANN401
    """All files of a dataset, which would not be whole without one of them."""
    if not isinstance(data, Dataset):
        return []
    described = data.description
    tables = [described[kind].values() for kind in ("features", "edge_features", "splits")]
    files = [described["graph"], described["labels"], *(file for some in tables for file in some)]
    return [os.path.join(data.path, file) for file in files if file is not None]


def _precision(dtype: torch.dtype) -> torch.dtype:
    """What layers compute in: float64 if the rows have it, else float32."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def _call_plainly(layer: Any, block: LayerBlock) -> torch.Tensor:  # noqa: ANN401
    given: torch.Tensor = layer(block.x, block.edge_index)
    return given


def _inputs(data: Any, features: str) -> tuple[Graph, FeatureStore]:  # noqa: ANN401
    if isinstance(data, Dataset):
        require_type("features", features, str, "the name of a table")
        if features not in data.features:
            raise ValueError(
                f"features: there is no table {features!r} in {data.path}; there are "
                f"{sorted(data.features)}"
            )
        return data.graph, data.features[features]
    graph, store = data if isinstance(data, tuple) and len(data) == 2 else (None, None)
    if not isinstance(graph, Graph) or not isinstance(store, FeatureStore):
        raise TypeError(f"data must be a Dataset or (Graph, FeatureStore), not {shown(data)}")
    check_order(graph, store)
    return graph, store


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


@dataclass(frozen=True, kw_only=True)
class _Job:
    """What all layers have in common."""

    graph: Graph
    direction: Direction
    weights: bool
    call: Callable[[Any, LayerBlock], torch.Tensor]
    dtype: DTypeName | None
    device: torch.device
    memory: int

    def run(
        self,
        layer: Any,  # noqa: ANN401
        name: str,
        store: FeatureStore,
        path: str,
        *,
        dtype: torch.dtype,
        report: Callable[[int, int], None] | None,
    ) -> torch.dtype:
        """Applies one layer to the rows of `store`, and writes what it gives.

        Rows come as `dtype`. The result is as what those of the next layer should come: in the
        precision that this one has computed in, in whatever it is stored.
        """
        num_done = 0
        output: LayerOutput | None = None
        with ExitStack() as stack:
            blocks = layer_blocks(
                self.graph,
                store,
                dtype=dtype,
                direction=self.direction,
                weights=self.weights,
                memory=self.memory,
            )
            for block in stack.enter_context(closing(read_ahead(blocks))):
                with torch.inference_mode():
                    given = self.call(layer, block.to(self.device))
                if output is None:
                    output = LayerOutput(
                        name, path, graph=self.graph, dtype=self.dtype, given=given
                    )
                    stack.enter_context(closing(output.writer))
                output.append(given, block.num_targets, num_done)
                num_done += block.num_targets
                if report is not None:
                    report(num_done, self.graph.num_nodes)
            assert output is not None  # noqa: S101  (there are nodes, so there was a block)
            output.writer.finish(num_done)
        return _precision(given.dtype)
