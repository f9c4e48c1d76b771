"""Passes of layers over all nodes, each from the files of the last one to files of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch

from graphmount._mount.features import FeatureStore
from graphmount._support.progress import ProgressOption, reporting
from graphmount._support.threads.read_ahead import read_ahead
from graphmount.torch.inference.kinds import LayerRows, as_block_of_one, precision_of
from graphmount.torch.inference.output import LayerOutput

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from graphmount._support.conversion import DTypeName
    from graphmount.torch.inference.blocks import TypedLayerBlock
    from graphmount.torch.inference.kinds import Kinds
    from graphmount.torch.inference.places import Places


@dataclass(frozen=True, kw_only=True)
class LayerPasses:
    """How each layer of a model goes over the nodes: what all layers have in common.

    Attributes:
        kinds: Types and relations.
        is_typed: Whether layers get and give dicts.
        call: How a layer is applied.
        dtype: How floats are stored; as they are if None.
        device: The device that layers are on.
        memory: How much memory blocks may take.
    """

    kinds: Kinds
    is_typed: bool
    call: Callable[[Any, Any], Any]
    dtype: DTypeName | None
    device: torch.device
    memory: int

    def run_all(
        self,
        layers: Sequence[Any],
        rows: Mapping[str, LayerRows],
        types: Sequence[str],
        places: Places,
        next_step: Callable[[], ProgressOption],
    ) -> Mapping[str, LayerRows]:
        """Applies all layers, one after the other; gives the rows of the last one."""
        needed = self.kinds.needed(types, len(layers))
        for number, layer in enumerate(layers):
            is_last = number == len(layers) - 1
            paths = {
                name: places.written[name]
                if is_last
                else os.path.join(places.inner, f"{number}-{place}.gd")
                for place, name in enumerate(self.kinds.num_nodes)
                if name in needed[number]
            }
            with reporting(
                next_step(), f"layer {number + 1} of {len(layers)}", in_bytes=False
            ) as report:
                given = self.run(layer, f"layers[{number}]", rows, paths, report=report)
            for old in rows.values() if number > 0 else ():  # not needed any more
                if old.store is not None:
                    old.store.close()
                    os.unlink(old.store.path)
            rows = given
        return rows

    def run(
        self,
        layer: Any,  # noqa: ANN401
        label: str,
        rows: Mapping[str, LayerRows],
        paths: Mapping[str, str],
        *,
        report: Callable[[int, int], None] | None,
    ) -> dict[str, LayerRows]:
        """Applies one layer to the rows of all types, and writes what it gives for some.

        Args:
            layer: The layer.
            label: What messages call it.
            rows: The rows of the types that have some.
            paths: For each type that is to be computed, the file to write.
            report: Is told how many nodes are done, and of how many.
        """
        done: dict[str, LayerRows] = {}
        idle: dict[str, LayerRows] = {}
        total, before = sum(self.kinds.num_nodes[name] for name in paths), 0
        for name, path in paths.items():

            def tell(num_done: int, before: int = before) -> None:
                if report is not None:
                    report(before + num_done, total)

            of = f"{label} for {name!r}" if self.is_typed else label
            found = self._run_type(layer, of, name, rows, path=path, idle=idle, tell=tell)
            if found is not None:
                done[name] = found
            before += self.kinds.num_nodes[name]
            tell(0, before)
        if not done:
            raise ValueError(
                f"{label} gave rows for none of {list(paths)}; a layer gives a dict of rows by type"
            )
        return done | {name: found for name, found in idle.items() if name not in paths}

    def _run_type(
        self,
        layer: Any,  # noqa: ANN401
        label: str,
        name: str,
        rows: Mapping[str, LayerRows],
        *,
        path: str,
        idle: dict[str, LayerRows],
        tell: Callable[[int], None],
    ) -> LayerRows | None:
        """Applies a layer to all nodes of a type; None if it gives nothing for them.

        `idle` gets what rows of other types look like: the next layer may want to have them, if
        only none of them.
        """
        num_done = 0
        output: LayerOutput | None = None
        with ExitStack() as stack:
            blocks = self.kinds.blocks(name, rows, self.memory)
            for block in stack.enter_context(closing(read_ahead(blocks))):
                all_given = self._apply(layer, label, block)
                given = all_given.get(name)
                if output is None:
                    idle |= _no_rows(all_given)
                    if given is None and self.is_typed:
                        return None
                    output = LayerOutput(
                        label,
                        path,
                        num_rows=self.kinds.num_nodes[name],
                        order=self.kinds.orders[name],
                        dtype=self.dtype,
                        given=given,
                    )
                    stack.enter_context(closing(output.writer))
                output.append(given, block.num_targets, num_done)
                num_done += block.num_targets
                tell(num_done)
            assert output is not None  # noqa: S101  (there is always a block)
            output.writer.finish(num_done)
        # In the precision that this layer has computed in, in whatever it is stored.
        return replace(idle[name], store=FeatureStore(path))

    def _apply(self, layer: Any, label: str, block: TypedLayerBlock) -> Mapping[str, Any]:  # noqa: ANN401
        """What a layer gives for the nodes of a block, by type."""
        moved = block.to(self.device)
        with torch.inference_mode():
            if not self.is_typed:
                return {block.target_type: self.call(layer, as_block_of_one(moved))}
            given = self.call(layer, moved)
        if isinstance(given, Mapping):
            return given
        if not isinstance(given, torch.Tensor):
            raise ValueError(  # noqa: TRY004  (as for what else a layer gives)
                f"{label} gave {type(given).__name__}, neither a dict of rows by type nor the rows "
                "of that type"
            )
        return {block.target_type: given}


def _no_rows(given: Mapping[str, Any]) -> dict[str, LayerRows]:
    """What a layer gave for each type, as rows of which none are kept; PyG may give None."""
    return {
        name: LayerRows(tuple(rows.shape[1:]), precision_of(rows.dtype), None)
        for name, rows in given.items()
        if isinstance(rows, torch.Tensor)
    }
