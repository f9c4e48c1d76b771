"""What graphmount raises.

Every error is a `GraphmountError`, and also the built-in exception one would look for, so code that
knows nothing of graphmount catches what it expects::

    GraphmountError
    ├── FormatError       (ValueError)  a file is not a graphmount file, or is damaged
    ├── MissingDataError  (LookupError) a file lacks what the call needs, such as a direction
    ├── OrderError        (ValueError)  files whose nodes are numbered differently, put together
    ├── SourceError       (ValueError)  the data to compile is wrong
    ├── BudgetError       (MemoryError) the work does not fit into the memory it was given
    ├── IdError           (IndexError)  a node, row or key that does not exist
    ├── ClosedError       (ValueError)  a handle is used after it was closed
    ├── FileChangedError  (OSError)     a file was truncated while it was mounted
    ├── DatasetChangedError (OSError)   files of a dataset are not of one version
    └── RankError         (RuntimeError) another process of a training ended, or does not answer

A failing system call raises the `OSError` that Python raises for it (`FileNotFoundError`,
`PermissionError`, …), with the path as its `filename`. A wrong argument raises `ValueError` or
`TypeError`.
"""

from __future__ import annotations

__all__ = [
    "BudgetError",
    "ClosedError",
    "DatasetChangedError",
    "FileChangedError",
    "FormatError",
    "GraphmountError",
    "IdError",
    "MissingDataError",
    "OrderError",
    "RankError",
    "SourceError",
]


class GraphmountError(Exception):
    """Base of all errors of graphmount.

    Attributes:
        path: The file the error is about, where there is one.

    Examples:
        >>> import graphmount as gm
        >>> try:
        ...     gm.compile_graph(([0, -1], [1, 2]), "bad.gl")
        ... except gm.errors.GraphmountError as error:
        ...     print(error)
        edges in memory, edge 1: node id -1 is negative
    """

    path: str | None = None


class FormatError(GraphmountError, ValueError):
    """A file is not a graphmount file, is of another version, or is damaged.

    Examples:
        >>> import pathlib
        >>> import graphmount as gm
        >>> _ = pathlib.Path("edges.csv").write_text("0,1")
        >>> try:
        ...     gm.Graph("edges.csv")
        ... except gm.errors.FormatError as error:
        ...     print("it looks like text" in str(error))
        True
    """


class MissingDataError(GraphmountError, LookupError):
    """A file does not hold what a call needs, such as neighbors in the direction asked for.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_graph(([0, 1], [1, 2]), "in.gl", neighbors="in")
        >>> try:
        ...     gm.Graph("in.gl").degree([0], direction="out")
        ... except gm.errors.MissingDataError as error:
        ...     print("neighbors='both'" in str(error))
        True
    """


class OrderError(GraphmountError, ValueError):
    """Files whose nodes are numbered differently were put together.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_graph(([0, 1], [1, 0]), "ordered.gl", node_ids=[70, 30])
        >>> _ = gm.compile_features([[1.0], [2.0]], "plain.gd")
        >>> try:
        ...     gm.check_order(gm.Graph("ordered.gl"), gm.FeatureStore("plain.gd"))
        ... except gm.errors.OrderError:
        ...     print("not the same order")
        not the same order
    """


class SourceError(GraphmountError, ValueError):
    """The data to compile is wrong; the message says where and why.

    Examples:
        >>> import graphmount as gm
        >>> try:
        ...     gm.compile_graph(([0], [1]), "bad.gl", weights=[float("nan")])
        ... except gm.errors.SourceError as error:
        ...     print(error)
        edges in memory, edge 0: weight nan is not a finite number of at least 0
    """


class BudgetError(GraphmountError, MemoryError):
    """The work needs more memory than `memory=` allows.

    Examples:
        >>> import numpy as np
        >>> import graphmount as gm
        >>> edges = np.zeros((2, 2_000_000), dtype=np.int64)
        >>> try:
        ...     gm.compile_graph(edges, "hub.gl", memory="64MiB")
        ... except gm.errors.BudgetError:
        ...     print("one list of two million neighbors needs more than 64 MiB")
        one list of two million neighbors needs more than 64 MiB
    """


class IdError(GraphmountError, IndexError):
    """A node id, a row or an external key that does not exist.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_graph(([0, 1], [1, 2]), "small.gl")
        >>> try:
        ...     gm.Graph("small.gl").degree([0, 7])
        ... except gm.errors.IdError as error:
        ...     print(error)
        node 7 (at position 1) does not exist: nodes are numbered from 0 to 2
    """


class ClosedError(GraphmountError, ValueError):
    """A handle is used after it was closed. Views made before live on.

    Examples:
        >>> import graphmount as gm
        >>> _ = gm.compile_features([[1.0], [2.0]], "x.gd")
        >>> x = gm.FeatureStore("x.gd")
        >>> x.close()
        >>> try:
        ...     x.numpy()
        ... except gm.errors.ClosedError:
        ...     print("closed")
        closed
    """


class FileChangedError(GraphmountError, OSError):
    """A file was truncated, or became unreadable, while it was mounted.

    Examples:
        >>> import os
        >>> import graphmount as gm
        >>> _ = gm.compile_graph(([0, 1], [1, 2]), "shrinking.gl")
        >>> g = gm.Graph("shrinking.gl")
        >>> os.truncate("shrinking.gl", 5000)
        >>> try:
        ...     g.degree([0])
        ... except gm.errors.FileChangedError as error:
        ...     print("truncated from" in str(error))
        True
    """


class DatasetChangedError(GraphmountError, OSError):
    """A dataset was replaced while it was being opened, or has files of another version.

    The list of files in `dataset.json` tells, and what a pickled dataset knows of its files: what
    comes from a dataset is always of one version.

    Examples:
        >>> import pickle
        >>> import graphmount as gm
        >>> _ = gm.compile_dataset("moving", edges=([0, 1], [1, 2]))
        >>> sent = pickle.dumps(gm.Dataset("moving"))
        >>> _ = gm.compile_dataset("moving", edges=([0, 2], [1, 1]), overwrite=True)
        >>> try:
        ...     pickle.loads(sent)
        ... except gm.errors.DatasetChangedError as error:
        ...     print("has been replaced" in str(error))
        True
    """


class RankError(GraphmountError, RuntimeError):
    """Another process of a training ended, does not answer, or has something else than this one.

    Attributes:
        rank: The number of that process; None if it is not one alone.

    Examples:
        >>> import graphmount as gm
        >>> error = gm.errors.RankError("rank 1 gives no sign of life")
        >>> error.rank = 1
        >>> isinstance(error, RuntimeError), error.rank
        (True, 1)
    """

    rank: int | None = None
