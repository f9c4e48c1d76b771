"""What all ranks do together at a checkpoint, wherever it is kept.

A checkpoint belongs to one place in one order of seeds over one version of the data. All three are
compared before anything is changed, on all ranks, and they go on only if all of them can.
"""

from __future__ import annotations

import io
import json
import pickle
import socket
import uuid
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.parallel import DistributedDataParallel

from graphmount import _core
from graphmount._loading.batch_loader import BatchLoader
from graphmount._support.arguments import require_type
from graphmount.errors import RankError
from graphmount.torch.ranks.fitting import optimizer_facts, require_fitting
from graphmount.torch.ranks.group import differing

if TYPE_CHECKING:
    from graphmount._loading.epochs.state import Place
    from graphmount.torch.ranks.group import RankGroup


class Objects:
    """What is saved of a training.

    Args:
        model: Its model; of `DistributedDataParallel`, what it wraps.
        optimizer: Its optimizer.
        loader: The loader whose loop is under way.

    Raises:
        TypeError: One of them is something else.
    """

    def __init__(
        self, *, model: torch.nn.Module, optimizer: torch.optim.Optimizer, loader: BatchLoader
    ) -> None:
        require_type("model", model, torch.nn.Module, "a model of torch")
        require_type("optimizer", optimizer, torch.optim.Optimizer, "an optimizer of torch")
        require_type("loader", loader, BatchLoader, "a loader")
        self.model: torch.nn.Module = (
            model.module if isinstance(model, DistributedDataParallel) else model
        )
        self.optimizer, self.loader = optimizer, loader


def save_together(
    objects: Objects,
    group: RankGroup,
    extra: Mapping[str, Any] | None,
    write: Callable[[Mapping[str, Any]], None],
    path: str,
) -> None:
    """Lets rank 0 write a checkpoint when all ranks agree on where they are.

    Args:
        objects: What to save.
        group: The processes that train together.
        extra: More to save.
        write: Writes the parts of a checkpoint; called on rank 0.
        path: What errors call the checkpoint.

    Raises:
        OSError: It cannot be written, which all ranks are told.
        RankError: A rank is at another batch, or has other data.
        TypeError: `extra` has something else than numbers, text and tensors.
    """
    plain = _as_plain_data(extra)
    loader = objects.loader
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
                "model": objects.model.state_dict(),
                "optimizer": objects.optimizer.state_dict(),
                "optimizer_facts": optimizer_facts(objects.optimizer),
                "loader": state,
                "data": contents,
                "random": [random for _, random in found],
                "extra": plain,
            }
            write(parts)
        except Exception as error:  # noqa: BLE001  (others wait for this rank, whatever it is)
            problem = error
    failed = group.gather(None if problem is None else f"{problem!s:.500}")[0]
    if problem is not None:
        raise problem
    if failed is not None:
        raise OSError(f"rank 0 could not write the checkpoint {path}: {failed}")


def load_together(
    objects: Objects, group: RankGroup, read: Callable[[], dict[str, Any] | None], path: str
) -> dict[str, Any] | None:
    """Makes all ranks go on from a checkpoint if it fits on all of them; else none changes.

    Args:
        objects: What is to go on.
        group: The processes that train together.
        read: Gives the parts of the checkpoint, or None if there is none; called on all ranks.
        path: What errors call it.

    Returns:
        What was saved as `extra`; None if there is no checkpoint.

    Raises:
        DatasetChangedError: The data has changed since, or differs between ranks.
        FormatError: It is no checkpoint, or is damaged.
        RankError: It fits on this rank, but not on another one; or only some ranks see it.
        ValueError: The loader, the model or the optimizer does not fit.
    """
    group.require_same_data(objects.loader)
    saved: dict[str, Any] | None = None
    place: Place | None = None
    problem: Exception | None = None
    try:
        saved = read()
        if saved is not None:
            place = require_fitting(
                path,
                saved,
                model=objects.model,
                optimizer=objects.optimizer,
                loader=objects.loader,
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
    objects.model.load_state_dict(saved["model"])
    objects.optimizer.load_state_dict(saved["optimizer"])
    objects.loader._go_to(place)  # noqa: SLF001  (a friend)
    _set_random_state(saved["random"], place, group)
    extra: dict[str, Any] = saved["extra"]
    return extra


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
