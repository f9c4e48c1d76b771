"""What all functions of this package take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    import os

    from graphmount._support.progress import ProgressOption


class DatasetOptions(TypedDict, total=False):
    """The keyword options of the functions in `graphmount.datasets`.

    Attributes:
        out: The folder of the compiled dataset. By default it lies beside the folder that was
            downloaded: `dataset/ogbn_arxiv-graphmount`.
        dtype: How features are stored, such as "float16"; as in the source by default.
        order: How nodes are numbered: "hot", the default, puts the nodes first that appear most
            often in the lists that sampling reads; "given" keeps the order of the source.
        overwrite: Whether to compile again if what is at `out` was compiled from other files, or
            with another `dtype` or `order`. If False, that is an error.
        memory: How much memory compiling may use.
        tmp: The folder for temporary files; the folder of `out` if None.
        progress: A callback of (done, total), in thousandths; True or False to show progress bars
            or not. None shows bars if the work takes a while. False also leaves out the line that
            says what was compiled.

    Examples:
        >>> import graphmount as gm
        >>> small: gm.datasets.DatasetOptions = {"dtype": "float16", "memory": "1GiB"}
        >>> gm.datasets.ogbn_arxiv("nowhere", **small)
        Traceback (most recent call last):
        FileNotFoundError: [Errno 2] this folder is not there; OGB's package downloads it: \
ogb.nodeproppred.NodePropPredDataset('ogbn-arxiv', root='nowhere'): 'nowhere/ogbn_arxiv'
    """

    out: str | os.PathLike[str]
    dtype: Any
    order: Literal["hot", "given"]
    overwrite: bool
    memory: int | str
    tmp: str | os.PathLike[str] | None
    progress: ProgressOption


#: Options that change the files of a dataset, with their defaults.
OF_CONTENT: dict[str, Any] = {"dtype": None, "order": "hot"}


def require_known(options: dict[str, Any]) -> None:
    """Raises if there is an option that is none.

    Raises:
        TypeError: There is one.
    """
    for name in options:
        if name not in DatasetOptions.__annotations__:
            known = ", ".join(DatasetOptions.__annotations__)
            raise TypeError(f"{name}= is no option of this function; its options are {known}")
