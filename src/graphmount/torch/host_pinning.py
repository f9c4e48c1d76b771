"""Batches in pinned memory, which a GPU can read by itself, if torch has a GPU.

The core makes the buffers and asks CUDA, through torch, to lock their pages; it does so only when
it makes a new buffer. Pages are unpinned before the interpreter ends.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
from typing import TYPE_CHECKING, Any

import torch

from graphmount import _core
from graphmount._support.arguments import require_choice

if TYPE_CHECKING:
    from collections.abc import Callable

_PIN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
_UNPIN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_FAILED = 1


def as_pin_memory(pin_memory: bool | None) -> bool:
    """Whether to pin: as told, or if there is a GPU.

    Raises:
        ValueError: There is none.
    """
    require_choice("pin_memory", pin_memory, (None, False, True))
    has_gpu = torch.cuda.is_available()
    if pin_memory and not has_gpu:
        raise ValueError("pin_memory=True needs CUDA, which torch does not find; leave it out")
    if not has_gpu or pin_memory is False:
        return False
    use_cuda()
    return True


@functools.cache
def use_cuda() -> None:
    """Has the core pin memory by CUDA's runtime."""
    runtime: Any = torch.cuda.cudart()  # type: ignore[no-untyped-call]
    set_pinning(
        lambda memory, size: int(runtime.cudaHostRegister(memory, size, 0)),
        lambda memory: int(runtime.cudaHostUnregister(memory)),
    )


_kept: list[object] = []  # what the core calls must not be collected


def set_pinning(pin: Callable[[int, int], int], unpin: Callable[[int], int]) -> None:
    """Has the core pin memory by these functions, which return 0 for success."""

    def guarded(function: Callable[..., int]) -> Callable[..., int]:
        def call(*arguments: int) -> int:
            try:
                return function(*arguments)
            except Exception:  # noqa: BLE001  # it cannot go through the core; memory stays as it is
                return _FAILED

        return call

    functions = _PIN(guarded(pin)), _UNPIN(guarded(unpin))
    _kept.append(functions)
    addresses = [ctypes.cast(function, ctypes.c_void_p).value or 0 for function in functions]
    _core.set_host_pinning(*addresses)


@atexit.register
def stop_pinning() -> None:
    """Ends calls into Python before the interpreter ends."""
    _core.set_host_pinning(0, 0)
