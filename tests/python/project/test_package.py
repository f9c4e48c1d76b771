"""The package as a whole: what it imports, exports and refuses without torch."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib.resources import files

import pytest

import graphmount as gm


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_import_is_light():
    loaded = run("import sys, graphmount; print(*sys.modules)").split()
    others = ("torch", "torch_geometric", "pyarrow", "rich", "pandas", "scipy", "ray")
    for module in (
        *others,
        *(f"graphmount.{name}" for name in ("torch", "pyg", "ray", "graphzero")),
    ):
        assert module not in loaded


def test_lightning_waits_until_it_is_asked_for():
    pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
    pytest.importorskip("pytorch_lightning", reason="pytorch_lightning is not installed")
    said = run("""
import sys
import graphmount.pyg
print("pytorch_lightning" in sys.modules, "LightningNodeData" in dir(graphmount.pyg))
print(hasattr(graphmount.pyg, "Lightning"))
from graphmount.pyg import LightningLinkData, LightningNodeData
print(LightningNodeData.__name__, LightningLinkData.__name__, "pytorch_lightning" in sys.modules)
""")
    assert said.split() == [
        *("False", "True"),
        "False",
        *("LightningNodeData", "LightningLinkData", "True"),
    ]


def test_graphzero_needs_no_torch():
    loaded = run("import sys, graphmount.graphzero; print(*sys.modules)").split()
    assert "torch" not in loaded
    assert "graphzero" not in loaded


def test_to_pyg_without_pyg(tmp_path):
    code = f"""
import sys
sys.modules["torch_geometric"] = None  # as if it were not installed
import graphmount as gm
gm.compile_dataset({str(tmp_path / "d")!r}, edges=([0], [1]))
try:
    gm.Dataset({str(tmp_path / "d")!r}).to_pyg()
except ImportError as error:
    print(error)
"""
    assert run(code) == "this needs PyG; install it with: pip install 'graphmount[pyg]'"


def test_tensor_without_torch(tmp_path):
    code = f"""
import sys
sys.modules["torch"] = None  # as if it were not installed
import graphmount as gm
gm.compile_features([[1.0]], {str(tmp_path / "x.gd")!r})
store = gm.FeatureStore({str(tmp_path / "x.gd")!r})
print(store.numpy()[0, 0])
try:
    store.tensor()
except ImportError as error:
    print(error)
"""
    assert run(code).splitlines() == [
        "1.0",
        "this needs PyTorch; install it with: pip install 'graphmount[torch]'",
    ]


def test_exports():
    assert gm.__all__ == sorted(gm.__all__)
    for name in gm.__all__:
        assert getattr(gm, name) is not None
    assert gm.errors.__all__ == sorted(gm.errors.__all__)
    for name in gm.errors.__all__:
        assert issubclass(getattr(gm.errors, name), gm.errors.GraphmountError)
    assert gm.datasets.__all__ == sorted(gm.datasets.__all__)
    public = {name for name in vars(gm) if not name.startswith("_")}
    modules = {name for name in public if inspect.ismodule(getattr(gm, name))}
    assert public - modules - {"annotations", "version"} == set(gm.__all__) - {"datasets", "errors"}


def test_typed():
    assert files("graphmount").joinpath("py.typed").is_file()
    assert files("graphmount").joinpath("_core.pyi").is_file()


@pytest.mark.parametrize("function", [gm.compile_graph, gm.compile_features, gm.verify, gm.Graph])
def test_keyword_only_after_two(function):
    positional = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    assert len(positional) <= 2


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (gm.errors.FormatError, ValueError),
        (gm.errors.MissingDataError, LookupError),
        (gm.errors.OrderError, ValueError),
        (gm.errors.SourceError, ValueError),
        (gm.errors.BudgetError, MemoryError),
        (gm.errors.IdError, IndexError),
        (gm.errors.ClosedError, ValueError),
        (gm.errors.FileChangedError, OSError),
        (gm.errors.DatasetChangedError, OSError),
    ],
)
def test_errors_are_also_what_python_calls_them(error, builtin):
    assert issubclass(error, builtin)
    assert error("text").path is None
