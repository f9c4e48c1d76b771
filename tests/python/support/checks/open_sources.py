"""Opens sources by the options of a table, each given by name."""

from __future__ import annotations

import os

from graphmount._sources import opening
from graphmount._sources.contract.tables import EdgeRequest, RowRequest
from graphmount._sources.text.tables import TextEdges, TextRows


def open_edges(source, **options):
    """A source of edges."""
    return opening.open_edges(EdgeRequest(source=source, **options))


def open_rows(source, *, dtype=None, **options):
    """A source of rows, of which text and headerless files are read as `dtype`."""
    return opening.open_rows(RowRequest(source=source, source_dtype=dtype, **options))


def text_edges(path, **options):
    """The edges of a file that is taken for text, whatever it is."""
    return TextEdges(os.fsdecode(path), EdgeRequest(source=path, **options))


def text_rows(path, *, dtype=None, **options):
    """The rows of such a file."""
    return TextRows(os.fsdecode(path), RowRequest(source=path, source_dtype=dtype, **options))
