"""How many threads the core may use."""

from __future__ import annotations

from graphmount import _core
from graphmount._support.arguments import as_count


def num_threads() -> int:
    """How many threads a call may use.

    At first this is OMP_NUM_THREADS, or the number of cores that this process may use.

    Examples:
        >>> import graphmount as gm
        >>> gm.num_threads() >= 1
        True
    """
    return _core.num_threads()


def set_num_threads(count: int) -> None:
    """Sets how many threads a call may use, here and in forked children.

    Results do not depend on it.

    Args:
        count: The number of threads, from 1 to 4096.

    Raises:
        ValueError: `count` is out of range.

    Examples:
        >>> import graphmount as gm
        >>> before = gm.num_threads()
        >>> gm.set_num_threads(1)
        >>> gm.num_threads()
        1
        >>> gm.set_num_threads(before)
    """
    _core.set_num_threads(as_count(count, "count", least=1, most=4096))
