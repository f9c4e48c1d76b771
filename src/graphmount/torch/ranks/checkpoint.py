"""Checkpoints of a training: model, optimizer and loader in one file, of all ranks together.

A checkpoint belongs to one place in one order of seeds over one version of the data. All three are
compared before anything is changed, on all ranks, and they go on only if all of them can.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import socket
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.parallel import DistributedDataParallel

from graphmount import _core
from graphmount._loading.batch_loader import BatchLoader
from graphmount._support.arguments import require_type
from graphmount.errors import RankError
from graphmount.torch.ranks.checkpoint_file import read_checkpoint, write_checkpoint
from graphmount.torch.ranks.fitting import optimizer_facts, require_fitting
from graphmount.torch.ranks.group import RankGroup, as_group, differing

if TYPE_CHECKING:
    from graphmount._loading.epochs.state import Place


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
    group = as_group(ranks)
    _require_objects(model, optimizer, loader)
    path = os.path.abspath(os.fsdecode(path))
    plain = _as_plain_data(extra)
    state, contents = loader.state_dict(), loader._data.contents()  # noqa: SLF001  (a friend)
    found = group.gather((json.dumps([state, contents], sort_keys=True), _random_state()))
    for rank, (facts, _) in enumerate(found):
        if facts != found[0][0]:
            raise _not_together(rank, json.loads(facts), json.loads(found[0][0]))
    problem: Exception | None = None
    if group.rank == 0:
        try:
            parts = {
                "token": uuid.uuid4().hex,
                "model": _inner(model).state_dict(),
                "optimizer": optimizer.state_dict(),
                "optimizer_facts": optimizer_facts(optimizer),
                "loader": state,
                "data": contents,
                "random": [random for _, random in found],
                "extra": plain,
            }
            write_checkpoint(path, parts)
        except Exception as error:  # noqa: BLE001  (others wait for this rank, whatever it is)
            problem = error
    failed = group.gather(None if problem is None else f"{problem!s:.500}")[0]
    if problem is not None:
        raise problem
    if failed is not None:
        raise OSError(f"rank 0 could not write the checkpoint {path}: {failed}")


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
    group = as_group(ranks)
    _require_objects(model, optimizer, loader)
    path = os.path.abspath(os.fsdecode(path))
    group.require_same_data(loader)
    saved: dict[str, Any] | None = None
    place: Place | None = None
    problem: Exception | None = None
    try:
        saved = read_checkpoint(path)
        if saved is not None:
            place = require_fitting(
                path, saved, model=_inner(model), optimizer=optimizer, loader=loader
            )
    except Exception as error:  # noqa: BLE001  (others wait for this rank, whatever it is)
        problem = error
    token = None if saved is None else saved["token"]
    text = None if problem is None else f"{problem!s:.1000}"
    found = group.gather((socket.gethostname(), token, text))
    if problem is not None:
        raise problem
    _require_together(path, group.rank, found)
    if saved is None or place is None:
        return None
    _inner(model).load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    loader._go_to(place)  # noqa: SLF001  (a friend)
    _set_random_state(saved["random"], place, group)
    extra: dict[str, Any] = saved["extra"]
    return extra


def _require_objects(model: object, optimizer: object, loader: object) -> None:
    require_type("model", model, torch.nn.Module, "a model of torch")
    require_type("optimizer", optimizer, torch.optim.Optimizer, "an optimizer of torch")
    require_type("loader", loader, BatchLoader, "a loader")


def _inner(model: torch.nn.Module) -> torch.nn.Module:
    return model.module if isinstance(model, DistributedDataParallel) else model


def _as_plain_data(extra: Mapping[str, Any] | None) -> dict[str, Any]:
    if extra is not None:
        require_type("extra", extra, Mapping, "a dict")
    plain = dict(extra or {})
    held = io.BytesIO()
    try:
        torch.save(plain, held)
        held.seek(0)
        torch.load(held, weights_only=True)
    except (pickle.PickleError, TypeError, AttributeError) as error:
        raise TypeError(
            "extra has something else than numbers, text, tensors, and lists and dicts of these, "
            f"which could not be loaded again: {error!s:.300}"
        ) from None
    return plain


def _not_together(rank: int, facts: list[Any], first: list[Any]) -> RankError:
    (state, contents), (first_state, first_contents) = facts, first
    wrong = differing(first_contents, contents)
    if wrong is not None:
        text = f"has other data than rank 0: {wrong}"
    elif state["order"] != first_state["order"] or state["key"] != first_state["key"]:
        text = "has a loader with another order of seeds than rank 0"
    else:
        place, own = (
            f"batch {each['batch']} of epoch {each['epoch']}" for each in (state, first_state)
        )
        text = f"is at {place}, and rank 0 at {own}"
    error = RankError(
        f"rank {rank} {text}; all ranks must save after the same batch, with the same seed= and "
        "data. Nothing was written"
    )
    error.rank = rank
    return error


def _require_together(
    path: str, rank: int, found: list[tuple[str, str | None, str | None]]
) -> None:
    """Raises unless all ranks have read the same file, or none."""
    own = found[rank][1]
    for other, (host, token, problem) in enumerate(found):
        if problem is not None:
            text = f"cannot go on from the checkpoint {path}: {problem}"
        elif token != own:
            text = (
                f"sees no checkpoint {path}, and this one does"
                if token is None
                else f"sees another checkpoint {path} than this one"
                if own is not None
                else f"sees a checkpoint {path}, and this one does not"
            )
            text += "; put it on a file system that all machines share"
        else:
            continue
        error = RankError(f"rank {other} (on {host}) {text}. Nothing was changed")
        error.rank = other
        raise error


def _random_state() -> dict[str, Any]:
    """Torch's own random numbers, such as those of dropout."""
    states = {"cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        states["cuda"] = torch.cuda.get_rng_state()
    return states


def _set_random_state(saved: list[dict[str, Any]], place: Place, group: RankGroup) -> None:
    if len(saved) != group.world_size:
        # Nobody has the numbers that come next: others, but the same in every try.
        torch.manual_seed(_core.random_key([place.key, place.epoch, place.batch, group.rank]))
        return
    states = saved[group.rank]
    torch.set_rng_state(states["cpu"])
    if "cuda" in states and torch.cuda.is_available():
        torch.cuda.set_rng_state(states["cuda"])
