"""Checkpoints of a training in Ray's storage: those of `graphmount.torch`, and reported to Ray.

Rank 0 writes the file to the place where Ray keeps checkpoints, without a copy elsewhere, and all
ranks report it when it is complete. So Ray never hears of a checkpoint that is not there as a
whole, and a process that is killed leaves nothing on its machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import ray.train
from ray.train import Checkpoint

from graphmount._support.arguments import require_type
from graphmount.ray.storage import StoredFile, new_folder
from graphmount.ray.training import context_of_ray, storage_of
from graphmount.torch.ranks.group import RankGroup, as_group
from graphmount.torch.ranks.together import Objects, load_together, save_together

if TYPE_CHECKING:
    import torch

    from graphmount._loading.batch_loader import BatchLoader

#: The file in the folder of a checkpoint.
_NAME = "graphmount.pt"


def save_checkpoint(
    metrics: Mapping[str, Any],
    *,
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    loader: BatchLoader,
    ranks: RankGroup | None = None,
    extra: Mapping[str, Any] | None = None,
) -> None:
    """Saves where a training is, in Ray's storage, and reports it: between two steps, on all ranks.

    It is `graphmount.torch.save_checkpoint` and `ray.train.report` in one call. When all ranks are
    at the same batch, rank 0 writes the file `graphmount.pt` into a folder of its own in the
    storage of the run, and then all ranks report. If Ray starts the ranks again,
    `graphmount.ray.load_checkpoint` finds it. Ray removes old ones as `CheckpointConfig` says.

    Args:
        metrics: Numbers to report with it, such as the loss; Ray keeps those of rank 0.
        model: The model; of `DistributedDataParallel`, what it wraps is saved.
        optimizer: The optimizer.
        loader: The loader whose loop is under way. Its place is saved, and the content of its data.
        ranks: The processes that train together; those of torch.distributed if None.
        extra: More to save, such as the state of a learning rate: numbers, text, tensors, and lists
            and dicts of these.

    Raises:
        OSError: The file cannot be written, which all ranks are told. The last checkpoint stays.
        RankError: A rank is at another batch, or has other data; or this is no training function
            of Ray Train, or one without storage (`num_workers=0`).
        TypeError: An argument is of the wrong kind.

    Examples:
        >>> import graphmount as gm
        >>> import graphmount.ray
        >>> def train():
        ...     with gm.ray.RankGroup() as ranks:
        ...         objects = make_objects(ranks)  # model, optimizer, loader, ranks=ranks
        ...         gm.ray.load_checkpoint(**objects)
        ...         for batch in objects["loader"]:
        ...             loss = step(batch, **objects)
        ...             gm.ray.save_checkpoint({"loss": loss}, **objects)
    """
    require_type("metrics", metrics, Mapping, "a dict")
    storage = storage_of(context_of_ray())
    group = as_group(ranks)
    objects = Objects(model=model, optimizer=optimizer, loader=loader)
    folder: str | None = None

    def write(parts: Mapping[str, Any]) -> None:
        nonlocal folder
        place = parts["loader"]
        folder = new_folder(storage, f"checkpoint_{place['epoch']:06}_{place['batch']:09}")
        StoredFile(storage.storage_filesystem, folder, _NAME).write(parts)

    save_together(objects, group, extra, write, storage.experiment_fs_path)
    ray.train.report(
        dict(metrics),
        checkpoint=None
        if folder is None
        else Checkpoint(path=folder, filesystem=storage.storage_filesystem),
        checkpoint_upload_mode=ray.train.CheckpointUploadMode.NO_UPLOAD,  # it is there
    )


def load_checkpoint(
    *,
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    loader: BatchLoader,
    ranks: RankGroup | None = None,
) -> dict[str, Any] | None:
    """Makes a training go on from the last checkpoint that was reported. Call it on all ranks.

    Ray starts a training function from its beginning, at first and after each failure: call this
    before the first loop. What must fit, and what is compared, is said at
    `graphmount.torch.load_checkpoint`. Ray may have started another number of ranks: that fits if
    the global batch is the same, as `RankGroup.batch_size` makes it.

    Args:
        model: The model, with parameters of the same names, shapes and types.
        optimizer: The optimizer, of the same kind, for parameters in the same order.
        loader: The loader whose next loop is to go on.
        ranks: The processes that train together; those of torch.distributed if None.

    Returns:
        What was saved as `extra`; None if nothing was reported yet.

    Raises:
        DatasetChangedError: The data has changed since, or differs between ranks. The message names
            the files.
        FormatError: What was reported last was not made by `save_checkpoint`, or is damaged.
        RankError: It fits on this rank, but not on another one; or this is no training function of
            Ray Train.
        ValueError: The loader has another order of seeds, the model has other parameters, or the
            optimizer is of another kind.

    Examples:
        >>> import graphmount as gm
        >>> import graphmount.ray
        >>> def train():
        ...     with gm.ray.RankGroup() as ranks:
        ...         objects = make_objects(ranks)  # model, optimizer, loader, ranks=ranks
        ...         saved = gm.ray.load_checkpoint(**objects)
        ...         losses = [] if saved is None else saved["losses"]
    """
    context = context_of_ray()
    group = as_group(ranks)
    objects = Objects(model=model, optimizer=optimizer, loader=loader)
    # Rank 0 may have reported one that others have not heard of yet.
    own = ray.train.get_checkpoint()
    folder = group.gather(None if own is None else own.path)[0]
    if folder is None:
        return load_together(objects, group, lambda: None, "")
    file = StoredFile(storage_of(context).storage_filesystem, folder, _NAME)
    return load_together(objects, group, file.read, file.path)
