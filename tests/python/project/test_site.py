"""The site: it builds without a warning, a mistake in a page fails the build, and it is at home.

Notebooks are executed by test_notebooks.py, so not here again.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
# What makes a browser fetch something from another machine; links may lead wherever they like.
FOREIGN = re.compile(
    r'<(?:script|img)[^>]* src="(?:https?:)?//|<link[^>]*stylesheet[^>]* href="(?:https?:)?//'
)
LINK = re.compile(r'href="([^"#:]+\.html)(?:#[^"]*)?"')


def require_sphinx() -> None:
    # torch and PyG: the API page shows what the packages for them have.
    builders = ("sphinx", "myst_nb", "pydata_sphinx_theme", "sphinx_copybutton")
    for package in (*builders, "torch", "torch_geometric"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")


def build(source: Path, target: Path) -> subprocess.CompletedProcess[str]:
    """Builds a site as `make docs` does, without executing notebooks."""
    options = ["--builder", "html", "--fail-on-warning", "--keep-going", "--quiet"]
    options += ["--define", "nb_execution_mode=off", "--doctree-dir", str(target / "doctrees")]
    return subprocess.run(
        [sys.executable, "-m", "sphinx", *options, str(source), str(target / "site")],
        capture_output=True,
        text=True,
        check=False,
    )


def test_site_builds_in_silence_and_needs_no_other_machine(tmp_path: Path) -> None:
    require_sphinx()
    result = build(DOCS, tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout + result.stderr == ""
    site = tmp_path / "site"
    pages = {path for path in site.rglob("*.html") if path.parent.name != "_static"}
    linked = {site / "index.html"}
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not FOREIGN.search(text), page
        linked |= {(page.parent / target).resolve() for target in LINK.findall(text)}
    assert {page.relative_to(site) for page in pages - linked} == set()
    sources = {
        path.relative_to(DOCS) for kind in ("md", "ipynb") for path in DOCS.rglob(f"*.{kind}")
    }
    assert {site / source.with_suffix(".html") for source in sources} <= pages


def test_mistakes_in_pages_fail_the_build(tmp_path: Path) -> None:
    require_sphinx()
    source = tmp_path / "docs"
    source.mkdir()
    shutil.copytree(DOCS / "static", source / "static")
    shutil.copy(DOCS / "conf.py", source)
    mistakes = {
        "nosuch.md": "[a page](nosuch.md)",
        "nosuch-heading": "[a heading of another page](other.md#nosuch-heading)",
        "nosuch-here": "[a heading of this page](#nosuch-here)",
        "graphmount.NoSuch": "[a name of the API](#graphmount.NoSuch)",
        "nosuch.svg": "![a picture](nosuch.svg)",
    }
    table = "```{toctree}\n:hidden:\n\nother\n```\n"
    (source / "index.md").write_text("\n\n".join(["# Home", *mistakes.values(), table]))
    (source / "other.md").write_text("# Other\n")
    (source / "forgotten.md").write_text("# A page that no other leads to\n")
    result = build(source, tmp_path)
    assert result.returncode == 1
    for word in (*mistakes, "forgotten.md"):
        lines = [line for line in result.stderr.splitlines() if word in line]
        assert any("WARNING" in line for line in lines), (word, result.stderr)


def test_levels_of_the_navigation_are_short() -> None:
    for page in DOCS.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        for entries in re.findall(
            r"^```{toctree}\n(?::.*\n)*\n(.*?)^```", text, re.MULTILINE | re.DOTALL
        ):
            assert len(entries.splitlines()) <= 14, page  # rooms of the core, and three
