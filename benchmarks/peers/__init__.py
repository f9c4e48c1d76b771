"""Other libraries that benchmarks compare with, each in a process of its own.

`recipes` says what they are and how pip installs them, `environments` finds or makes the place they
run in (`python -m benchmarks.peers graphbolt`), `packages` says whether one can be imported where
the benchmark runs, `contract` says what a sample must be, whoever made
it, and `trial` starts a peer once, to see what it does before anybody takes its time. What runs in
a peer's process is in `scripts`: plain files that know NumPy and the peer, but not graphmount.
"""

from __future__ import annotations

from .environments import Peer, find, why_missing
from .packages import why_not_here
from .recipes import RECIPES, Recipe

__all__ = ["RECIPES", "Peer", "Recipe", "find", "why_missing", "why_not_here"]
