"""Well-known datasets with several node types: ogbn-mag, MAG240M, IGB and those of RelBench."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from graphmount._support.arguments import require_choice
from graphmount.datasets.downloaded import find_folder
from graphmount.datasets.typed_folders import INTEGER_LABELS, open_folder, open_types

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, Unpack

    from graphmount._dataset.dataset import Dataset
    from graphmount._dataset.typed_dataset import TypedDataset
    from graphmount.datasets.options import DatasetOptions


def ogbn_mag(
    root: str | os.PathLike[str] = "dataset",
    *,
    reverse: bool | Literal["merge"] | Sequence[tuple[str, str, str]] = True,
    **options: Unpack[DatasetOptions],
) -> TypedDataset:
    """Papers, authors, institutions and fields of study: 1,939,743 nodes, 349 classes of papers.

    Papers have the features `x`, labels, years as times, and the splits "train", "valid" and
    "test". All four relations are there.

    Args:
        root: The folder that was given to OGB as `root`, or the folder `ogbn_mag` itself.
        reverse: Which relations are also stored the other way round: all of them by default, none
            with False, or a list of relations. "merge" is like True, but citations run both ways
            instead.
        options: How to compile and where to, by the names of `DatasetOptions`: `out`, `dtype`,
            `order`, `overwrite`, `memory`, `tmp` and `progress`.

    Returns:
        The dataset, which was compiled now or earlier.

    Raises:
        FileNotFoundError: OGB has not downloaded the dataset there; the message has the call that
            does.
        FileExistsError: What is at `out` was compiled from something else.
        SourceError: A file is missing or damaged.

    Examples:
        >>> import graphmount as gm
        >>> gm.datasets.ogbn_mag("nowhere")
        Traceback (most recent call last):
        FileNotFoundError: [Errno 2] this folder is not there; OGB's package downloads it: \
ogb.nodeproppred.NodePropPredDataset('ogbn-mag', root='nowhere'): 'nowhere/ogbn_mag'
    """
    given = os.fsdecode(root)
    call = f"ogb.nodeproppred.NodePropPredDataset('ogbn-mag', root={given!r})"
    names = ("ogbn_mag_pyg", "ogbn_mag_dgl", "ogbn_mag")  # the first two are of older versions
    folder = find_folder(given, names, f"OGB's package downloads it: {call}")
    return open_types("ogbn-mag", folder, options, reverse=reverse)


def mag240m(
    root: str | os.PathLike[str] = "dataset",
    *,
    reverse: bool | Literal["merge"] | Sequence[tuple[str, str, str]] = True,
    **options: Unpack[DatasetOptions],
) -> TypedDataset:
    """MAG240M: 121,751,666 papers with 768 features, 122,383,112 authors, 25,721 institutions.

    Papers have the features `x`, years as times, labels (int64, -1 for papers without one), and
    the splits of OGB, if torch is installed, which their file needs.

    Args:
        root: The folder that was given to OGB as `root`, or the folder `mag240m_kddcup2021` itself.
        reverse: Which relations are also stored the other way round: all of them by default, as
            OGB's `to_pyg_hetero_data` has them, none with False, or a list of relations. "merge" is
            like True, but citations run both ways instead.
        options: How to compile and where to, by the names of `DatasetOptions`: `out`, `dtype`,
            `order`, `overwrite`, `memory`, `tmp` and `progress`.

    Returns:
        The dataset, which was compiled now or earlier.

    Raises:
        FileNotFoundError: OGB has not downloaded the dataset there; the message has the call that
            does.
        FileExistsError: What is at `out` was compiled from something else.
        SourceError: A file is missing or damaged.

    Examples:
        >>> import graphmount as gm
        >>> gm.datasets.mag240m("nowhere")
        Traceback (most recent call last):
        FileNotFoundError: [Errno 2] this folder is not there; OGB's package downloads it: \
ogb.lsc.MAG240MDataset(root='nowhere'): 'nowhere/mag240m_kddcup2021'
    """
    given = os.fsdecode(root)
    advice = f"OGB's package downloads it: ogb.lsc.MAG240MDataset(root={given!r})"
    folder = find_folder(given, ("mag240m_kddcup2021",), advice)
    return open_types("MAG240M", folder, options, reverse=reverse, labels=INTEGER_LABELS)


def igb(
    root: str | os.PathLike[str],
    size: Literal["tiny", "small", "medium", "large", "full"] = "tiny",
    *,
    reverse: bool | Literal["merge"] | Sequence[tuple[str, str, str]] = True,
    **options: Unpack[DatasetOptions],
) -> TypedDataset | Dataset:
    """IGB in one of its sizes: papers and citations, or all node types, whichever is in the folder.

    Features are the table `x` with 1,024 columns. Papers have labels of 19 classes (int64, -1 for
    papers without one). IGB has no files of splits.

    Args:
        root: The folder that was given to IGB as `path`, which has a folder for each size.
        size: The size: "tiny", "small", "medium", "large" or "full".
        reverse: Which relations of a heterogeneous folder are also stored the other way round: all
            of them by default, as IGB's loader of large sizes has them, none with False, or a list
            of relations. "merge" is like True, but citations run both ways instead.
        options: How to compile and where to, by the names of `DatasetOptions`: `out`, `dtype`,
            `order`, `overwrite`, `memory`, `tmp` and `progress`.

    Returns:
        The dataset, which was compiled now or earlier: a `TypedDataset` of a heterogeneous folder,
        a `Dataset` of a homogeneous one.

    Raises:
        FileNotFoundError: There is no such folder; the message has the call that downloads it.
        FileExistsError: What is at `out` was compiled from something else.
        SourceError: A file is missing or damaged.

    Examples:
        >>> import graphmount as gm
        >>> gm.datasets.igb("nowhere", "small")
        Traceback (most recent call last):
        FileNotFoundError: [Errno 2] this folder is not there; IGB's package downloads it: \
igb.download.download_dataset(path='nowhere', dataset_type='heterogeneous', dataset_size='small'): \
'nowhere/small'
    """
    require_choice("size", size, ("tiny", "small", "medium", "large", "full"))
    given = os.fsdecode(root)
    call = (
        f"igb.download.download_dataset(path={given!r}, dataset_type='heterogeneous', "
        f"dataset_size={size!r})"
    )
    folder = find_folder(given, (size,), f"IGB's package downloads it: {call}")
    return open_folder(f"IGB-{size}", folder, options, reverse=reverse, labels=INTEGER_LABELS)


def relbench(folder: str | os.PathLike[str], **options: Unpack[DatasetOptions]) -> TypedDataset:
    """A dataset of RelBench, version 3: a folder with `manifest.yaml` and a Parquet file per table.

    Each table is a node type, and row i is node i. A foreign key is a relation
    `(table, "f2p_<column>", other table)`, and its other direction is `"rev_f2p_<column>"`, as in
    RelBench. The time column gives the times of nodes, in seconds since 1970; columns of numbers
    are the features `x`, in which null is NaN. Tasks are left to RelBench.

    Args:
        folder: The folder of the dataset.
        options: How to compile and where to, by the names of `DatasetOptions`: `out`, `dtype`,
            `order`, `overwrite`, `memory`, `tmp` and `progress`.

    Returns:
        The dataset, which was compiled now or earlier.

    Raises:
        FileNotFoundError: There is no such folder, or it has no manifest.
        FileExistsError: What is at `out` was compiled from something else.
        SourceError: A file is missing or damaged, or the manifest is of another version.
        ImportError: pyarrow or PyYAML is not installed.

    Examples:
        >>> import graphmount as gm
        >>> gm.datasets.relbench("nowhere")
        Traceback (most recent call last):
        FileNotFoundError: [Errno 2] this file is not there; relbench.load_dataset(…).dataset_dir \
is the folder that RelBench downloads: 'nowhere/manifest.yaml'
    """
    path = os.path.normpath(os.fsdecode(folder))
    for name in ("manifest.yaml", "db"):
        if not os.path.exists(os.path.join(path, name)):
            message = (
                "this file is not there; relbench.load_dataset(…).dataset_dir is the folder that "
                "RelBench downloads"
            )
            raise FileNotFoundError(errno.ENOENT, message, os.path.join(path, name))
    return open_types(f"RelBench {os.path.basename(os.path.abspath(path))}", path, options)
