"""How Sphinx builds the site: `make docs` writes it into build/site/, and a warning is an error.

Pages are Markdown, which GitHub shows as well, and notebooks, which are executed while the site is
built. Nothing on the site is fetched from another machine. docs/design/site.md says why Sphinx.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import graphmount

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "graphmount"
author = "The graphmount developers"
copyright = author  # noqa: A001  (Sphinx wants this name)
release = version = graphmount.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
copybutton_prompt_text = "$ "  # what is copied from a console is the commands

# Markdown and notebooks.
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block", "attrs_inline"]
nb_execution_mode = "force"  # so that what a notebook shows is what this version prints
nb_execution_show_tb = True  # an error is a warning of Sphinx, and so fails the build
nb_execution_timeout = 120
nb_merge_streams = True
# Notebooks run with these settings instead of those of whoever builds the site. Kernels warn of
# every TCP port that they open, which would be noise here.
_settings = TemporaryDirectory(prefix="graphmount-ipython-")
(Path(_settings.name) / "profile_default").mkdir()
(Path(_settings.name) / "profile_default" / "ipython_kernel_config.py").write_text(
    "get_config().IPKernelApp.log_level = 'ERROR'\n", encoding="utf-8"
)
os.environ["IPYTHONDIR"] = _settings.name

# The API page. Types stay in the signature, as they are written in the source.
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "inherited-members": "Exception, ndarray, tuple"}
python_maximum_signature_line_length = 88
# Signatures say `Graph`, and several modules have one: Sphinx would warn for each of them.
suppress_warnings = ["ref.python"]
napoleon_google_docstring = True
napoleon_numpy_docstring = False

html_theme = "pydata_sphinx_theme"
html_title = "graphmount"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "logo": {"text": "graphmount"},
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "show_toc_level": 2,
    "show_nav_level": 1,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}


def _markdown_to_rst(
    _app: Sphinx, _what: str, _name: str, _object: object, _options: object, lines: list[str]
) -> None:
    """Docstrings have code between single backticks, as Markdown has; autodoc reads two."""
    for number, line in enumerate(lines):
        lines[number] = re.sub(r"(?<![`\w])`([^`]+)`(?!`)", r"``\1``\\ ", line)


def setup(app: Sphinx) -> None:
    """Called by Sphinx when the configuration is read."""
    app.connect("autodoc-process-docstring", _markdown_to_rst)
