"""Well-known datasets from folders that OGB or PyG has made: opened, or compiled first.

OGB's and PyG's own packages download them; nothing is downloaded here. The first call of a function
compiles what OGB or PyG has put into a folder, and writes the result beside that folder. Later
calls open that result.
"""

from __future__ import annotations

from graphmount.datasets.ogb_links import ogbl_citation2, ogbl_collab, ogbl_ddi, ogbl_ppa
from graphmount.datasets.ogb_nodes import (
    ogbn_arxiv,
    ogbn_papers100m,
    ogbn_products,
    ogbn_proteins,
)
from graphmount.datasets.options import DatasetOptions
from graphmount.datasets.pyg_classes import pyg

__all__ = [
    "DatasetOptions",
    "ogbl_citation2",
    "ogbl_collab",
    "ogbl_ddi",
    "ogbl_ppa",
    "ogbn_arxiv",
    "ogbn_papers100m",
    "ogbn_products",
    "ogbn_proteins",
    "pyg",
]
