"""What headers claim, bounded before anybody allocates, loops or multiplies by it.

A file of a hundred bytes can claim 10**17 rows. For the values of an array, the bytes of the file
show whether that is true. For rows without columns, and for other claims of a header, nothing does.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from graphmount._support.shown import shown
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Sequence

#: What the system can address; no file is larger.
_LARGEST_FILE = 2**63 - 1
#: The core has room for no more.
MOST_NODES = 2**47
#: The limit of the core: more nodes or rows are believed only if a source has nearly as many.
_PLAUSIBLE = 1 << 24
_CLAIMED_FOR_EACH = 64
#: Rows without columns take no space, so that counting them is all there is to do.
_MOST_EMPTY_ROWS = 2**40
#: How many of them to take at once.
EMPTY_ROWS_AT_ONCE = 1 << 24


def array_bytes(name: str, shape: Sequence[int], item_bytes: int) -> int:
    """How many bytes an array takes, of which there must then be as many.

    Args:
        name: What messages call it.
        shape: Its shape, as a header claims it.
        item_bytes: The size of one value.

    Raises:
        SourceError: No file can have so many.
    """
    needed = math.prod(shape) * item_bytes
    # Each size is checked alone as well, because a product with 0 is 0.
    if max((needed, *shape)) > _LARGEST_FILE:
        raise SourceError(
            f"{name}: an array of shape {shown(tuple(shape))} does not fit into any file; its "
            "header is damaged"
        )
    return needed


def require_rows(name: str, shape: Sequence[int]) -> None:
    """Raises if there are more rows without columns than can be counted.

    Args:
        name: What messages call the array.
        shape: Its shape, of one or two dimensions.

    Raises:
        SourceError: It says that there are.
    """
    if len(shape) == 2 and shape[1] == 0 and shape[0] > _MOST_EMPTY_ROWS:
        raise SourceError(
            f"{name} has shape {shown(tuple(shape))}: there are at most {_MOST_EMPTY_ROWS} rows "
            "without columns; is its header damaged?"
        )


def is_plausible(claimed: int, there: int) -> bool:
    """Whether to believe that there are so many nodes or rows, of which so many were seen."""
    return claimed <= max(_PLAUSIBLE, _CLAIMED_FOR_EACH * there)


def rows_at_once(memory: int, row_bytes: int) -> int:
    """How many rows to take at once, for which about `memory` bytes are used."""
    return max(1, memory // row_bytes) if row_bytes else EMPTY_ROWS_AT_ONCE
