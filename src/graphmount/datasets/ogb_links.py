"""OGB's datasets with links to predict.

The graph has the edges to train on. The links to predict are left to OGB's `get_edge_split`; their
ends are ids of the source, so loaders take them with `ids="external"`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmount.datasets import ogb_folders
from graphmount.datasets.ogb_folders import open_ogb

if TYPE_CHECKING:
    import os
    from typing import Unpack

    from graphmount._dataset.dataset import Dataset
    from graphmount.datasets.options import DatasetOptions


def ogbl_collab(
    root: str | os.PathLike[str] = "dataset", **options: Unpack[DatasetOptions]
) -> Dataset:
    """Authors who have written papers together: 235,868 nodes, 128 features.

    Edges run both ways, as in OGB, without their weights and years.

    Args:
        root: The folder that was given to OGB as `root`, or the folder `ogbl_collab` itself.
        options: How to compile and where to, by the names of `DatasetOptions`: `out`, `dtype`,
            `order`, `overwrite`, `memory`, `tmp` and `progress`.

    Returns:
        The dataset, which was compiled now or earlier.

    Raises:
        FileNotFoundError: OGB has not downloaded the dataset there; the message has the call that
            does.
        FileExistsError: What is at `out` was compiled from something else.
        SourceError: A file is damaged.

    Examples:
        >>> import graphmount as gm
        >>> gm.datasets.ogbl_collab("nowhere")
        Traceback (most recent call last):
        FileNotFoundError: [Errno 2] this folder is not there; OGB's package downloads it: \
ogb.linkproppred.LinkPropPredDataset('ogbl-collab', root='nowhere'): 'nowhere/ogbl_collab'
    """
    return open_ogb(ogb_folders.COLLAB, root, options)


def ogbl_ppa(
    root: str | os.PathLike[str] = "dataset", **options: Unpack[DatasetOptions]
) -> Dataset:
    """Associations of proteins: 576,289 nodes, 58 features.

    Edges run both ways, as in OGB.

    Args:
        root: The folder that was given to OGB as `root`, or the folder `ogbl_ppa` itself.
        options: How to compile and where to, by the names of `DatasetOptions`: `out`, `dtype`,
            `order`, `overwrite`, `memory`, `tmp` and `progress`.

    Returns:
        The dataset, which was compiled now or earlier.

    Raises:
        FileNotFoundError: OGB has not downloaded the dataset there; the message has the call that
            does.
        FileExistsError: What is at `out` was compiled from something else.
        SourceError: A file is damaged.

    Examples:
        >>> import graphmount as gm
        >>> gm.datasets.ogbl_ppa("nowhere")
        Traceback (most recent call last):
        FileNotFoundError: [Errno 2] this folder is not there; OGB's package downloads it: \
ogb.linkproppred.LinkPropPredDataset('ogbl-ppa', root='nowhere'): 'nowhere/ogbl_ppa'
    """
    return open_ogb(ogb_folders.PPA, root, options)


def ogbl_citation2(
    root: str | os.PathLike[str] = "dataset", **options: Unpack[DatasetOptions]
) -> Dataset:
    """Citations between papers: 2,927,963 nodes, 128 features.

    Edges are those of OGB, from a paper to a paper that it cites.

    Args:
        root: The folder that was given to OGB as `root`, or the folder `ogbl_citation2` itself.
        options: How to compile and where to, by the names of `DatasetOptions`: `out`, `dtype`,
            `order`, `overwrite`, `memory`, `tmp` and `progress`.

    Returns:
        The dataset, which was compiled now or earlier.

    Raises:
        FileNotFoundError: OGB has not downloaded the dataset there; the message has the call that
            does.
        FileExistsError: What is at `out` was compiled from something else.
        SourceError: A file is damaged.

    Examples:
        >>> import graphmount as gm
        >>> gm.datasets.ogbl_citation2("nowhere")
        Traceback (most recent call last):
        FileNotFoundError: [Errno 2] this folder is not there; OGB's package downloads it: \
ogb.linkproppred.LinkPropPredDataset('ogbl-citation2', root='nowhere'): 'nowhere/ogbl_citation2'
    """
    return open_ogb(ogb_folders.CITATION2, root, options)


def ogbl_ddi(
    root: str | os.PathLike[str] = "dataset", **options: Unpack[DatasetOptions]
) -> Dataset:
    """Drugs that affect each other: 4,267 nodes, without features.

    Edges run both ways, as in OGB.

    Args:
        root: The folder that was given to OGB as `root`, or the folder `ogbl_ddi` itself.
        options: How to compile and where to, by the names of `DatasetOptions`: `out`, `dtype`,
            `order`, `overwrite`, `memory`, `tmp` and `progress`.

    Returns:
        The dataset, which was compiled now or earlier.

    Raises:
        FileNotFoundError: OGB has not downloaded the dataset there; the message has the call that
            does.
        FileExistsError: What is at `out` was compiled from something else.
        SourceError: A file is damaged.

    Examples:
        >>> import graphmount as gm
        >>> gm.datasets.ogbl_ddi("nowhere")
        Traceback (most recent call last):
        FileNotFoundError: [Errno 2] this folder is not there; OGB's package downloads it: \
ogb.linkproppred.LinkPropPredDataset('ogbl-ddi', root='nowhere'): 'nowhere/ogbl_ddi'
    """
    return open_ogb(ogb_folders.DDI, root, options)
