"""Well-known datasets from folders that OGB, PyG, IGB or RelBench made: opened, or compiled first.

Their own packages download them; nothing is downloaded here. The first call of a function compiles
what is in a folder, and writes the result beside that folder. Later calls open that result.
"""

from __future__ import annotations

from graphmount.datasets.many_types import igb, mag240m, ogbn_mag, relbench
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
    "igb",
    "mag240m",
    "ogbl_citation2",
    "ogbl_collab",
    "ogbl_ddi",
    "ogbl_ppa",
    "ogbn_arxiv",
    "ogbn_mag",
    "ogbn_papers100m",
    "ogbn_products",
    "ogbn_proteins",
    "pyg",
    "relbench",
]
