"""The notebooks of the documentation run from top to bottom, and are stored without outputs.

The site shows the outputs of its own run, so none can be out of date.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from run_mode import IS_SANITIZED

NOTEBOOKS = sorted((Path(__file__).parents[3] / "docs/notebooks").glob("*.ipynb"))


def require_jupyter() -> None:
    if IS_SANITIZED:
        pytest.skip("a kernel is mostly code of others, which sanitizers were not built into")
    for package in ("nbclient", "nbformat", "ipykernel"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")


def execute(notebook: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs all cells in a folder, with no settings of IPython but its own."""
    import nbclient

    monkeypatch.setenv("IPYTHONDIR", str(folder / "ipython"))
    monkeypatch.setenv("TMPDIR", str(folder))  # where notebooks make their data
    client = nbclient.NotebookClient(
        notebook,
        timeout=300,
        startup_timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()


def test_there_are_three() -> None:
    names = [path.stem for path in NOTEBOOKS]
    assert names == ["first-steps", "look-at-a-dataset", "migrate-from-pyg"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_jupyter()
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    for package in ("torch", "torch_geometric", "matplotlib"):
        if f"import {package}" in code or f"from {package}" in code:
            pytest.importorskip(package)
    execute(notebook, tmp_path, monkeypatch)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    kinds = {output.output_type for cell in cells for output in cell.outputs}
    assert "error" not in kinds
    assert kinds & {"stream", "display_data", "execute_result"}


def test_a_cell_with_an_error_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_jupyter()
    import nbclient
    import nbformat

    cells = [nbformat.v4.new_code_cell("1 / 0")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    with pytest.raises(nbclient.exceptions.CellExecutionError, match="ZeroDivisionError"):
        execute(notebook, tmp_path, monkeypatch)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_stored_without_outputs(path: Path) -> None:
    import json

    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
