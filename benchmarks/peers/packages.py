"""Peers that run in the process that measures: whether they are here, and how to get them."""

from __future__ import annotations

import importlib.util

#: What to give to pip where it is not the name that is imported.
_REQUIREMENTS = {"graphzero": "graphzero==0.2.*"}


def why_not_here(*names: str) -> str | None:
    """The first of these packages that is missing, and how to get it; None if all are here.

    Examples:
        >>> why_not_here("json")
        >>> why_not_here("json", "no_such_package")
        'no_such_package is not installed; pip install no_such_package'
    """
    for name in names:
        if importlib.util.find_spec(name) is None:
            return f"{name} is not installed; pip install {_REQUIREMENTS.get(name, name)}"
    return None
