"""What `seed=` means: every random call turns it into one key of the core.

A seed is an integer, or several: `(seed, epoch, batch)`. The same seed gives the same result,
whatever the number of threads and whatever was drawn before. Without a seed, one is drawn from
torch's global generator if torch is loaded, else from NumPy's. So `torch.manual_seed` or
`numpy.random.seed` makes results repeatable.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from graphmount import _core
from graphmount._support.arguments import as_count

#: A seed, or the parts of one; None draws it.
Seed = int | Sequence[int] | None

_MOST = 2**64 - 1


def as_key(seed: Seed) -> int:
    """The key of a seed."""
    if isinstance(seed, np.ndarray):
        seed = seed.tolist()
    if seed is None:
        parts = [_draw_seed()]
    elif isinstance(seed, Sequence) and not isinstance(seed, str | bytes):
        if len(seed) == 0:
            raise ValueError("seed has no parts; give an integer, or several of them")
        parts = [as_count(part, f"seed[{i}]", most=_MOST) for i, part in enumerate(seed)]
    else:
        parts = [as_count(seed, "seed", most=_MOST)]
    return _core.random_key(parts)


def _draw_seed() -> int:
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "randint"):  # which it lacks while it is being loaded
        return int(torch.randint(2**63 - 1, ()).item())
    return int(np.random.randint(2**63 - 1, dtype=np.int64))  # noqa: NPY002  (users seed this one)
