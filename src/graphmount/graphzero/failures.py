"""Errors as graphzero has them: a `RuntimeError` for all that goes wrong with files and nodes.

The message is graphmount's, and its error is the cause, so nothing is lost. Errors of arguments
(`TypeError`, `ValueError`) are the same in both.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from graphmount.errors import GraphmountError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def as_runtime_errors() -> Iterator[None]:
    """Raises graphmount's errors, and those of the system, as a `RuntimeError`."""
    try:
        yield
    except (GraphmountError, OSError) as error:
        raise RuntimeError(str(error)) from error
