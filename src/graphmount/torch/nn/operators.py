"""Operators of torch that are made in the core, so that `torch.compile` calls them as they are.

Each says what its results look like, which is all that a compiler needs to know of it. They have
schemas: older versions of torch do not understand annotations that are strings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from graphmount import _core

if TYPE_CHECKING:
    from collections.abc import Callable


def operator(
    name: str, schema: str, results: Callable[..., Any]
) -> Callable[[Callable[..., Any]], Any]:
    """Makes an operator of a function, `torch.ops.graphmount.<name>`.

    Args:
        name: The name of the operator.
        schema: Its arguments and results, as torch writes them.
        results: Makes tensors of the same shapes and dtypes as the results, of the same arguments.
    """

    def made(function: Callable[..., Any]) -> Any:  # noqa: ANN401
        operator = torch.library.custom_op(
            f"graphmount::{name}", function, mutates_args=(), schema=schema
        )
        operator.register_fake(results)
        return operator

    return made


def calls_by_dtype(name: str) -> dict[torch.dtype, Callable[..., None]]:
    """The calls of the core that have this name, by the dtype of rows."""
    return {
        torch.float32: getattr(_core, name),
        torch.float64: getattr(_core, name),
        torch.float16: getattr(_core, f"{name}_float16"),
        torch.bfloat16: getattr(_core, f"{name}_bfloat16"),
    }
