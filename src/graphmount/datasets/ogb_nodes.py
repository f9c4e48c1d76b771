"""OGB's datasets with labels of nodes to predict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmount.datasets import ogb_folders
from graphmount.datasets.ogb_folders import open_ogb

if TYPE_CHECKING:
    import os
    from typing import Unpack

    from graphmount._dataset.dataset import Dataset
    from graphmount.datasets.options import DatasetOptions


def ogbn_arxiv(
    root: str | os.PathLike[str] = "dataset", **options: Unpack[DatasetOptions]
) -> Dataset:
    """Citations between papers of arXiv: 169,343 nodes, 1,166,243 edges, 40 classes.

    Edges are those of OGB, from a paper to a paper that it cites. Features are the table `x`, and
    there are the splits "train", "valid" and "test".

    Args:
        root: The folder that was given to OGB as `root`, or the folder `ogbn_arxiv` itself.
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
        >>> gm.datasets.ogbn_arxiv("nowhere")
        Traceback (most recent call last):
        FileNotFoundError: [Errno 2] this folder is not there; OGB's package downloads it: \
ogb.nodeproppred.NodePropPredDataset('ogbn-arxiv', root='nowhere'): 'nowhere/ogbn_arxiv'
    """
    return open_ogb(ogb_folders.ARXIV, root, options)


def ogbn_products(
    root: str | os.PathLike[str] = "dataset", **options: Unpack[DatasetOptions]
) -> Dataset:
    """Products that were bought together: 2,449,029 nodes, 61,859,140 edges, 47 classes.

    Edges run both ways, as in OGB. Features are the table `x`, and there are the splits
    "train", "valid" and "test".

    Args:
        root: The folder that was given to OGB as `root`, or the folder `ogbn_products` itself.
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
        >>> gm.datasets.ogbn_products("nowhere")
        Traceback (most recent call last):
        FileNotFoundError: [Errno 2] this folder is not there; OGB's package downloads it: \
ogb.nodeproppred.NodePropPredDataset('ogbn-products', root='nowhere'): 'nowhere/ogbn_products'
    """
    return open_ogb(ogb_folders.PRODUCTS, root, options)


def ogbn_proteins(
    root: str | os.PathLike[str] = "dataset", **options: Unpack[DatasetOptions]
) -> Dataset:
    """Associations of proteins: 132,534 nodes, 39,561,252 edges, 112 labels for each node.

    Edges run both ways, as in OGB, without their features. Nodes have no features, and there
    are the splits "train", "valid" and "test".

    Args:
        root: The folder that was given to OGB as `root`, or the folder `ogbn_proteins` itself.
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
        >>> gm.datasets.ogbn_proteins("nowhere")
        Traceback (most recent call last):
        FileNotFoundError: [Errno 2] this folder is not there; OGB's package downloads it: \
ogb.nodeproppred.NodePropPredDataset('ogbn-proteins', root='nowhere'): 'nowhere/ogbn_proteins'
    """
    return open_ogb(ogb_folders.PROTEINS, root, options)


def ogbn_papers100m(
    root: str | os.PathLike[str] = "dataset", **options: Unpack[DatasetOptions]
) -> Dataset:
    """Citations between papers: 111,059,956 nodes, 1,615,685,872 edges, 172 classes.

    Edges are those of OGB, from a paper to a paper that it cites. Features are the table `x`;
    labels are int64, -1 for the papers without one; there are the splits "train", "valid" and
    "test".

    Args:
        root: The folder that was given to OGB as `root`, or the folder `ogbn_papers100M` itself.
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
        >>> gm.datasets.ogbn_papers100m("nowhere")
        Traceback (most recent call last):
        FileNotFoundError: [Errno 2] this folder is not there; OGB's package downloads it: \
ogb.nodeproppred.NodePropPredDataset('ogbn-papers100M', root='nowhere'): 'nowhere/ogbn_papers100M'
    """
    return open_ogb(ogb_folders.PAPERS100M, root, options)
