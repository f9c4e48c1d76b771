"""PyG's own datasets, over folders that PyG has made: nothing is downloaded, nothing processed."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any

from graphmount._compile.pyg.from_pyg import from_pyg
from graphmount._support.shown import shown
from graphmount.datasets.compiled import content_of, open_or_compile
from graphmount.datasets.options import DatasetOptions
from graphmount.errors import SourceError

if TYPE_CHECKING:
    from graphmount._compile.dataset.compiler import CompiledDataset
    from graphmount._dataset.dataset import Dataset
    from graphmount._dataset.typed_dataset import TypedDataset


def pyg(
    dataset: type[Any],
    root: str | os.PathLike[str],
    **options: Any,  # noqa: ANN401  (DatasetOptions, and the arguments of the class)
) -> Dataset | TypedDataset:
    """The one graph of a dataset of PyG, such as `Reddit`, `Planetoid` or `OGB_MAG`.

    The first call compiles it with `from_pyg`, for which PyG reads it into memory. Later calls open
    what was compiled, without PyG. Masks become splits: `train_mask` is the split "train".

    Args:
        dataset: The class of the dataset, such as `torch_geometric.datasets.Reddit`.
        root: The folder that was given to the class as `root`.
        options: How to compile and where to, by the names of `DatasetOptions`; `dtype` may also be
            a dict of dtypes by the name of the attribute. `reverse` is that of `from_pyg`, for
            graphs with several node types. All other names are arguments of the class, such as
            `name="Cora"` for `Planetoid`.

    Returns:
        The dataset, which was compiled now or earlier: a `TypedDataset` of a `HeteroData`.

    Raises:
        FileNotFoundError: PyG has not made the dataset there; the message has the call that does.
        FileExistsError: What is at `out` was compiled from something else.
        TypeError: This is no dataset class of PyG.
        SourceError: The dataset has several graphs.

    Examples:
        >>> from torch_geometric.datasets import Planetoid
        >>> import graphmount as gm
        >>> gm.datasets.pyg(Planetoid, "nowhere", name="Cora")
        Traceback (most recent call last):
        FileNotFoundError: [Errno 2] this file is not there; PyG downloads and makes it: \
torch_geometric.datasets.Planetoid('nowhere', name='Cora'): 'nowhere/Cora/processed/data.pt'
    """
    _require_class(dataset)
    path = os.fsdecode(root)
    ours = {name: options.pop(name) for name in DatasetOptions.__annotations__ if name in options}
    if "reverse" in options:
        ours["reverse"] = options.pop("reverse")
    for name, value in options.items():
        if " at 0x" in repr(value):
            raise TypeError(
                f"{name}={shown(value)} cannot be recognised when this is called again; pass the "
                "graph itself: graphmount.from_pyg(dataset[0], 'folder')"
            )
    arguments = "".join(f", {name}={value!r}" for name, value in options.items())
    call = f"{dataset.__module__.split('.')[0]}.datasets.{dataset.__name__}({path!r}{arguments})"
    files = _made_files(dataset, path, options, call)
    folder = os.path.dirname(os.path.dirname(files[0]))

    def compile_into(out: str, **more: Any) -> CompiledDataset:  # noqa: ANN401
        made = _only_there(dataset, call)(path, **options)
        if len(made) != 1:
            raise SourceError(
                f"{call} has {len(made)} graphs, and a dataset of graphmount has one; pass one of "
                "them: graphmount.from_pyg(dataset[i], 'folder')"
            )
        return from_pyg(made[0], out, **more)

    names = [os.path.relpath(file, folder) for file in files]
    content = content_of(folder, names, dataset.__name__, arguments)
    return open_or_compile(dataset.__name__, folder, content, compile_into, ours)


class _LookedError(Exception):
    """Ends the constructor of a dataset, when its files are known."""

    def __init__(self, files: list[str]) -> None:
        super().__init__()
        self.files = files


def _require_class(dataset: object) -> None:
    from torch_geometric.data import Dataset as PygDataset

    if isinstance(dataset, PygDataset):
        raise TypeError(
            "pass the class and its root, as graphmount.datasets.pyg(Reddit, 'data/Reddit'); of a "
            "dataset that is open, graphmount.from_pyg(dataset[0], 'folder') compiles a graph"
        )
    if not (isinstance(dataset, type) and issubclass(dataset, PygDataset)):
        raise TypeError(
            f"dataset must be a class of torch_geometric.datasets, not {shown(dataset)}"
        )


def _made_files(dataset: type[Any], root: str, options: dict[str, Any], call: str) -> list[str]:
    """The files that PyG has made of what it downloaded.

    Only the constructor of a class knows them, and asks for them before it downloads.
    """

    def look(self: Any) -> None:  # noqa: ANN401
        raise _LookedError(list(self.processed_paths))

    looking = type(dataset.__name__, (dataset,), {"_download": look, "_process": look})
    try:
        looking(root, **options)
    except _LookedError as looked:
        files = looked.files
    else:
        raise SourceError(f"{call} keeps no files of what it has made; pass its graph to from_pyg")
    for path in files:
        if not os.path.exists(path):
            message = f"this file is not there; PyG downloads and makes it: {call}"
            raise FileNotFoundError(errno.ENOENT, message, path)
    return files


def _only_there(dataset: type[Any], call: str) -> type[Any]:
    """The class, which takes the files that are there, and neither downloads nor makes any."""

    def nothing(self: Any) -> None:  # noqa: ANN401
        del self

    def refuse(self: Any) -> None:  # noqa: ANN401
        del self
        raise FileNotFoundError(errno.ENOENT, f"files were removed; PyG makes them anew: {call}")

    own = {"_download": nothing, "_process": nothing, "download": refuse, "process": refuse}
    return type(dataset.__name__, (dataset,), own)
