"""The documentation: its code runs, and every public name is in it."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import inspect
import io
import re
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType

import pytest
from public_names import HAS_LIGHTNING, HAS_PYG, HAS_RAY, HAS_TORCH

import graphmount

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# By their files: walking through packages would import PyG.
PACKAGE = Path(graphmount.__file__).parent
MODULES = sorted(
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if path.name != "__main__.py" and path.parent.name != "__pycache__"
)
# A fenced block, and the block of text right behind it, if there is one: what the code prints.
CODE_BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<printed>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class CodeBlock:
    line: int
    code: str
    printed: str | None


def code_blocks(page: Path) -> list[CodeBlock]:
    text = page.read_text(encoding="utf-8")
    return [
        CodeBlock(text.count("\n", 0, match.start("code")), match["code"], match["printed"])
        for match in CODE_BLOCK.finditer(text)
    ]


def require_torch() -> None:
    if not HAS_TORCH:
        pytest.skip("torch is not installed")


def require_pyg() -> None:
    if not HAS_PYG:
        pytest.skip("torch_geometric is not installed")


@pytest.mark.parametrize(
    "page", [page for page in PAGES if code_blocks(page)], ids=lambda page: page.name
)
@pytest.mark.usefixtures("one_thread")
def test_code_of_page_runs_and_prints_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = code_blocks(page)
    if any("torch" in block.code or ".tensor()" in block.code for block in blocks):
        require_torch()
    if any("torch_geometric" in block.code for block in blocks):
        require_pyg()
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks:
        # As many empty lines as stand above the block, so that a traceback names its true line.
        program = compile("\n" * block.line + block.code, str(page), "exec")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(program, namespace)  # noqa: S102  (our own documentation)
        if block.printed is not None:
            assert printed.getvalue() == block.printed, f"{page.name}, line {block.line}"


def test_every_python_block_is_found() -> None:
    # A block that is indented, say in a list, would be skipped in silence.
    for page in PAGES:
        marked = len(re.findall(r"^ *```python", page.read_text(encoding="utf-8"), re.MULTILINE))
        assert len(code_blocks(page)) == marked, page.name


def test_api_page_has_every_public_name() -> None:
    text = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^\.\. auto\w+:: (\S+)$", text, re.MULTILINE))
    modules = ("datasets", "errors")
    expected = {f"graphmount.{name}" for name in graphmount.__all__ if name not in modules}
    for module in modules:
        names = getattr(graphmount, module).__all__
        expected |= {f"graphmount.{module}.{name}" for name in names}
    assert expected <= shown
    module = importlib.import_module("graphmount.graphzero")
    assert {f"graphmount.graphzero.{name}" for name in module.__all__} <= shown
    module = importlib.import_module("graphmount.doctor")
    assert {f"graphmount.doctor.{name}" for name in module.__all__} <= shown
    require_torch()
    module = importlib.import_module("graphmount.torch")
    assert {f"graphmount.torch.{name}" for name in module.__all__} <= shown
    assert "graphmount.torch.lightning.StatsLogger" in shown
    if HAS_RAY:
        module = importlib.import_module("graphmount.ray")
        assert {f"graphmount.ray.{name}" for name in module.__all__} <= shown
    require_pyg()
    module = importlib.import_module("graphmount.pyg")
    assert {f"graphmount.pyg.{name}" for name in module.__all__} <= shown


def test_errors_page_draws_the_tree() -> None:
    text = (ROOT / "docs/errors.md").read_text(encoding="utf-8")
    for name in graphmount.errors.__all__:
        error = getattr(graphmount.errors, name)
        builtin = next((base for base in error.__mro__ if base.__module__ == "builtins"), None)
        if error is graphmount.errors.GraphmountError:
            assert f"\n{name}\n" in text
        else:
            assert builtin is not None
            assert re.search(rf"─ {name} +\({builtin.__name__}\) ", text), name


class Finder(doctest.DocTestFinder):
    """Finds examples of functions behind a decorator, too."""

    def _from_module(self, module: ModuleType, thing: object) -> bool:
        plain = inspect.unwrap(thing) if isinstance(thing, FunctionType) else thing
        return super()._from_module(module, plain)  # type: ignore[misc,no-any-return]


def test_doctests_behind_decorators_are_found() -> None:
    module = importlib.import_module("graphmount._compile.graph_compiler")
    found = [test.name for test in Finder(exclude_empty=True).find(module, "m")]
    assert "m.compile_graph" in found


@pytest.mark.parametrize("name", MODULES)
def test_doctests(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name.startswith("graphmount.torch"):
        require_torch()
    if name.startswith("graphmount.pyg"):
        require_pyg()
    if name == "graphmount.torch.lightning" and not HAS_LIGHTNING:
        pytest.skip("Lightning is not installed")
    if name.startswith("graphmount.ray") and not HAS_RAY:
        pytest.skip("Ray is not installed")
    module = importlib.import_module(name)
    finder = Finder(exclude_empty=True)
    monkeypatch.chdir(tmp_path)
    failures = 0
    for test in finder.find(module, name):
        if any("tensor()" in example.source for example in test.examples):
            require_torch()
        if any("torch_geometric" in example.source for example in test.examples):
            require_pyg()
        if any("Lightning" in example.source for example in test.examples):
            pytest.importorskip("pytorch_lightning", reason="pytorch_lightning is not installed")
        failures += doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test).failed
    assert failures == 0
