"""What batches and blocks of tensors can do, of one kind of nodes or of many: go to a device."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import torch

if TYPE_CHECKING:
    from collections.abc import Callable


class TensorParts:
    """A batch, block or matrix whose fields are tensors, dicts of them, or something else."""

    def to(self, device: torch.device | str | int, *, non_blocking: bool = True) -> Self:
        """A copy of this with its tensors on a device. From pinned memory it does not wait.

        Args:
            device: The device to copy the tensors to.
            non_blocking: If False, wait until the tensors are there.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.torch
            >>> _ = gm.compile_graph(([1, 2], [0, 0]), "g.gl")
            >>> batch = next(iter(gm.torch.NeighborLoader(gm.Graph("g.gl"), [-1])))
            >>> batch.to("meta").nodes.device
            device(type='meta')
        """
        return self._changed(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def pin_memory(self) -> Self:
        """A copy of this with its tensors in pinned memory, which a GPU can read by itself.

        Tensors that are pinned already are not copied; rows are pinned where torch finds CUDA.
        Code that works with any kind of batch calls this method, such as PyG's `PrefetchLoader`.

        Raises:
            RuntimeError: torch finds no device that memory could be pinned for.

        Examples:
            >>> import torch
            >>> import graphmount as gm
            >>> import graphmount.torch
            >>> _ = gm.compile_graph(([1, 2], [0, 0]), "g.gl")
            >>> batch = next(iter(gm.torch.NeighborLoader(gm.Graph("g.gl"), [-1])))
            >>> if torch.cuda.is_available():
            ...     batch = batch.pin_memory()
        """
        return self._changed(lambda tensor: tensor.pin_memory())

    def _changed(self, change: Callable[[torch.Tensor], torch.Tensor]) -> Self:
        """A copy of this with each of its tensors changed."""

        def changed(value: Any) -> Any:  # noqa: ANN401
            if isinstance(value, dict):
                return {name: changed(item) for name, item in value.items()}
            return change(value) if isinstance(value, torch.Tensor) else value

        changed_fields = {name: changed(value) for name, value in vars(self).items()}
        return replace(self, **changed_fields)  # type: ignore[type-var]  # it is a dataclass
