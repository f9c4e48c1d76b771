"""Folders that OGB's package has downloaded: where they are, and what must be in them."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from graphmount._compile.dataset.from_layout import compile_layout
from graphmount._sources.layouts.recognition import find_layout
from graphmount.datasets.compiled import content_of, open_or_compile
from graphmount.datasets.downloaded import find_folder
from graphmount.datasets.options import require_known

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphmount._compile.dataset.compiler import CompiledDataset
    from graphmount._dataset.dataset import Dataset

_TEXT = ("raw/edge.csv.gz", "raw/num-node-list.csv.gz")
_LABELS = ("raw/node-label.csv.gz",)


@dataclass(frozen=True, kw_only=True)
class OgbDataset:
    """A dataset of OGB.

    Attributes:
        name: What OGB calls it.
        files: What its folder has, beside splits.
        scheme: By what nodes or links are split.
        directed: Whether OGB leaves edges as they are; it adds the inverse of each otherwise.
        label_options: Options of `compile_layout` for labels.
    """

    name: str
    files: tuple[str, ...]
    scheme: str
    directed: bool
    label_options: Mapping[str, Any] | None = None

    @property
    def is_of_links(self) -> bool:
        """Whether links are to be predicted, and not labels of nodes."""
        return self.name.startswith("ogbl-")

    @property
    def all_files(self) -> list[str]:
        """All that is compiled: links to predict are not."""
        ends = () if self.is_of_links else ("train.csv.gz", "valid.csv.gz", "test.csv.gz")
        return [*self.files, *(f"split/{self.scheme}/{end}" for end in ends)]

    def call(self, root: str) -> str:
        """The call that downloads it."""
        kind = "link" if self.is_of_links else "node"
        return f"ogb.{kind}proppred.{kind.title()}PropPredDataset({self.name!r}, root={root!r})"


ARXIV = OgbDataset(
    name="ogbn-arxiv",
    files=(*_TEXT, "raw/node-feat.csv.gz", *_LABELS),
    scheme="time",
    directed=True,
)
PRODUCTS = OgbDataset(
    name="ogbn-products",
    files=(*_TEXT, "raw/node-feat.csv.gz", *_LABELS),
    scheme="sales_ranking",
    directed=False,
)
PROTEINS = OgbDataset(
    name="ogbn-proteins", files=(*_TEXT, *_LABELS), scheme="species", directed=False
)
PAPERS100M = OgbDataset(
    name="ogbn-papers100M",
    files=("raw/data.npz", "raw/node-label.npz"),
    scheme="time",
    directed=True,
    label_options={"label_dtype": "int64", "label_nan": -1},
)
COLLAB = OgbDataset(
    name="ogbl-collab", files=(*_TEXT, "raw/node-feat.csv.gz"), scheme="time", directed=False
)
PPA = OgbDataset(
    name="ogbl-ppa", files=(*_TEXT, "raw/node-feat.csv.gz"), scheme="throughput", directed=False
)
CITATION2 = OgbDataset(
    name="ogbl-citation2", files=(*_TEXT, "raw/node-feat.csv.gz"), scheme="time", directed=True
)
DDI = OgbDataset(name="ogbl-ddi", files=_TEXT, scheme="target", directed=False)


def open_ogb(
    known: OgbDataset, root: str | os.PathLike[str], options: Mapping[str, Any]
) -> Dataset:
    """The dataset that OGB has downloaded into a folder of `root`.

    Args:
        known: Which one.
        root: What was given to OGB as `root`, or the folder of the dataset itself.
        options: `DatasetOptions`.

    Raises:
        FileNotFoundError: It has not, or not all of it.
    """
    left = dict(options)
    require_known(left)
    folder = _find(known, os.fsdecode(root))
    content = content_of(folder, known.all_files, known.name)

    def compile_into(out: str, **more: Any) -> CompiledDataset:  # noqa: ANN401
        layout = replace(find_layout(folder), directed=known.directed)
        if known.is_of_links:  # whose labels, if there were any, OGB does not know
            layout = replace(layout, labels=None, splits={})
        return compile_layout(layout, out, **(known.label_options or {}), **more)

    return open_or_compile(known.name, folder, content, compile_into, left)


def _find(known: OgbDataset, root: str) -> str:
    usual = known.name.replace("-", "_")
    names = (f"{usual}_pyg", f"{usual}_dgl", usual)  # the first two are of older versions of OGB
    folder = find_folder(root, names, f"OGB's package downloads it: {known.call(root)}")
    parent = os.path.dirname(folder)
    for name in known.all_files:
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            message = (
                f"the folder of {known.name} is incomplete; remove it, and OGB's package downloads "
                f"it anew: {known.call(parent)}"
            )
            raise FileNotFoundError(errno.ENOENT, message, path)
    return folder
