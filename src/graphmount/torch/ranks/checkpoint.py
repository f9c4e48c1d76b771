"""Checkpoints of a training: model, optimizer and loader in one file, of all ranks together."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from graphmount.torch.ranks.checkpoint_file import read_checkpoint, write_checkpoint
from graphmount.torch.ranks.group import RankGroup, as_group
from graphmount.torch.ranks.together import Objects, load_together, save_together

if TYPE_CHECKING:
    from collections.abc import Mapping

    import torch

    from graphmount._loading.batch_loader import BatchLoader


def save_checkpoint(
    path: str | os.PathLike[str],
    *,
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    loader: BatchLoader,
    ranks: RankGroup | None = None,
    extra: Mapping[str, Any] | None = None,
) -> None:
    """Saves where a training is, so that it can go on there: between two steps, on all ranks.

    All ranks must call it after the same batch. When they agree on where they are, rank 0 writes
    the file. It gets its name when it is complete and on disk, so a process that is killed leaves
    the last checkpoint as it was. What it had written is removed by the next call. Two trainings
    that save under one name never mix: the later file replaces the earlier one.

    Args:
        path: The file to write, in place of one that is there. Its folder must exist.
        model: The model; of `DistributedDataParallel`, what it wraps is saved.
        optimizer: The optimizer.
        loader: The loader whose loop is under way. Its place is saved, and the content of its data.
        ranks: The processes that train together; those of torch.distributed if None.
        extra: More to save, such as the state of a learning rate: numbers, text, tensors, and lists
            and dicts of these.

    Raises:
        OSError: The file cannot be written, which all ranks are told. The last checkpoint stays.
        RankError: A rank is at another batch, or has other data.
        TypeError: `extra` has something else than numbers, text and tensors; or another argument is
            of the wrong kind.

    Examples:
        >>> import torch
        >>> import graphmount as gm
        >>> import graphmount.torch
        >>> _ = gm.compile_graph(([1, 2], [0, 0]), "g.gl")
        >>> loader = gm.torch.NeighborLoader(gm.Graph("g.gl"), [-1], seed=1)
        >>> model = torch.nn.Linear(2, 2)
        >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        >>> for batch in loader:
        ...     gm.torch.save_checkpoint(
        ...         "last.pt", model=model, optimizer=optimizer, loader=loader
        ...     )
        ...     break
        >>> gm.torch.load_checkpoint("last.pt", model=model, optimizer=optimizer, loader=loader)
        {}
        >>> [batch.number for batch in loader]
        [1, 2]
    """
    path = os.path.abspath(os.fsdecode(path))
    objects = Objects(model=model, optimizer=optimizer, loader=loader)
    save_together(
        objects, as_group(ranks), extra, lambda parts: write_checkpoint(path, parts), path
    )


def load_checkpoint(
    path: str | os.PathLike[str],
    *,
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    loader: BatchLoader,
    ranks: RankGroup | None = None,
) -> dict[str, Any] | None:
    """Makes a training go on where `save_checkpoint` was called. Call it before the first loop.

    The loader must have the same order of seeds over the same data. The number of ranks may differ
    if `batch_size` times the number of ranks stays the same: no seed comes twice, and none is left
    out. If anything does not fit, on any rank, nothing is changed on any of them. If there is no
    file, the data of all ranks is compared all the same. Nothing in the folder is changed, so a
    checkpoint may be read while the next one is written.

    All ranks read the file, so it must be on a file system that all of them see. Only plain data
    and tensors are read from it (`weights_only=True`), so a file of a stranger runs no code.

    Args:
        path: The file.
        model: The model, with parameters of the same names, shapes and types.
        optimizer: The optimizer, of the same kind, for parameters in the same order.
        loader: The loader whose next loop is to go on.
        ranks: The processes that train together; those of torch.distributed if None.

    Returns:
        What was saved as `extra`; None if there is no such file.

    Raises:
        DatasetChangedError: The data has changed since, or differs between ranks. The message names
            the files.
        FormatError: The file is no checkpoint, or is damaged. The message names the part.
        RankError: It fits on this rank, but not on another one; or only some ranks see the file.
        ValueError: The loader has another order of seeds, the model has other parameters, or the
            optimizer is of another kind.

    Examples:
        >>> import torch
        >>> import graphmount as gm
        >>> import graphmount.torch
        >>> _ = gm.compile_graph(([1, 2], [0, 0]), "g.gl")
        >>> loader = gm.torch.NeighborLoader(gm.Graph("g.gl"), [-1], seed=1)
        >>> model = torch.nn.Linear(2, 2)
        >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        >>> objects = {"model": model, "optimizer": optimizer, "loader": loader}
        >>> gm.torch.load_checkpoint("none.pt", **objects) is None
        True
        >>> gm.torch.save_checkpoint("some.pt", **objects, extra={"best": 0.5})
        >>> gm.torch.load_checkpoint("some.pt", **objects)
        {'best': 0.5}
    """
    path = os.path.abspath(os.fsdecode(path))
    objects = Objects(model=model, optimizer=optimizer, loader=loader)
    return load_together(objects, as_group(ranks), lambda: read_checkpoint(path), path)
