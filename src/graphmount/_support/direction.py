"""Along which edges to look, as every call says it."""

from __future__ import annotations

from typing import Literal

from graphmount._support.arguments import require_choice

#: "in" sees the sources of a node's incoming edges, "out" the targets of its outgoing ones.
Direction = Literal["in", "out"]


def require_direction(direction: object) -> None:
    """Raises unless `direction` is one."""
    require_choice("direction", direction, ("in", "out"))
