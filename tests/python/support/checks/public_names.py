"""Everything that a user may call or read, found by importing the public modules.

Modules that need torch, PyG, Lightning or Ray are left out where these are not installed.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
from types import FunctionType, ModuleType

HAS_TORCH = importlib.util.find_spec("torch") is not None
HAS_PYG = importlib.util.find_spec("torch_geometric") is not None
HAS_RAY = HAS_TORCH and importlib.util.find_spec("ray") is not None
HAS_LIGHTNING = HAS_TORCH and any(
    importlib.util.find_spec(name) is not None for name in ("lightning", "pytorch_lightning")
)


def public_modules() -> list[ModuleType]:
    """The modules that a user imports."""
    names = ["graphmount", "graphmount.errors", "graphmount.cli", "graphmount.graphzero"]
    names += ["graphmount.datasets", "graphmount.doctor"]
    names += ["graphmount.torch"] * HAS_TORCH + ["graphmount.pyg"] * HAS_PYG
    names += ["graphmount.torch.lightning"] * HAS_LIGHTNING + ["graphmount.ray"] * HAS_RAY
    return [importlib.import_module(name) for name in names]


@functools.cache
def public_members() -> dict[str, object]:
    """Everything a user may call or read, by its full name; inherited members too."""
    found: dict[str, object] = {}
    for module in public_modules():
        for name in module.__all__:
            value = getattr(module, name)
            found[f"{module.__name__}.{name}"] = value
            if not inspect.isclass(value):
                continue
            ours = [base for base in value.__mro__ if base.__module__.startswith("graphmount")]
            for member, inner in [item for base in ours for item in vars(base).items()]:
                if not member.startswith("_") and isinstance(
                    inner, FunctionType | property | classmethod | staticmethod
                ):
                    found.setdefault(f"{module.__name__}.{name}.{member}", inner)
    return found
