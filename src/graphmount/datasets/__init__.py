"""Well-known datasets over folders that are there: opened, or compiled first.

Their own packages download them, and nothing here does. A function looks for what OGB or PyG has
put into a folder, compiles it beside that folder when it is called for the first time, and opens
what it has compiled ever after.
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
