"""Whether a checkpoint fits to a model, an optimizer and a loader: looked at before any changes.

What torch itself would only find in the middle of loading, or at the next step, is found here: an
optimizer of another kind, parameters in another order, numbers of another type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from graphmount._loading.epochs.state import place_in
from graphmount.errors import DatasetChangedError
from graphmount.torch.ranks.checkpoint_file import damaged
from graphmount.torch.ranks.group import differing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphmount._loading.batch_loader import BatchLoader
    from graphmount._loading.epochs.state import Place

#: What optimizers of torch keep for each number of a parameter.
_OF_EACH_NUMBER = {
    *("acc_delta", "ax", "exp_avg", "exp_avg_sq", "exp_inf", "grad_avg", "max_exp_avg_sq"),
    *("momentum_buffer", "prev", "square_avg", "step_size", "sum"),
}


def optimizer_facts(optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """What an optimizer must have in common with another one that takes its state."""
    return {
        "kind": type(optimizer).__name__,
        "shapes": [
            [list(each.shape) for each in group["params"]] for group in optimizer.param_groups
        ],
    }


def require_fitting(
    path: str,
    saved: Mapping[str, Any],
    *,
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    loader: BatchLoader,
) -> Place:
    """Where to go on, if all that was saved fits to what there is. Nothing is changed.

    Args:
        path: Of the checkpoint, for messages.
        saved: What `read_checkpoint` gave.
        model: The model itself, not what wraps it.
        optimizer: The optimizer.
        loader: The loader.

    Raises:
        DatasetChangedError: The data is another one.
        FormatError: What was saved cannot be of a checkpoint.
        ValueError: The loader, the model or the optimizer is another one.
    """
    wrong = differing(saved["data"], loader._data.contents())  # noqa: SLF001  (a friend)
    if wrong is not None:
        raise DatasetChangedError(
            f"the data is not that of the checkpoint {path} (first) any more (second): {wrong}; "
            "train on the files that it was made with, or begin anew without it"
        )
    try:
        place = place_in(saved["loader"], loader._order_facts(), num_batches=len(loader))  # noqa: SLF001
    except TypeError as error:
        raise damaged(path, f"its part 'loader' is not what it must be: {error}") from None
    _require_same_model(path, saved["model"], model.state_dict())
    _require_same_optimizer(path, saved, optimizer)
    return place


def _require_same_model(path: str, others: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    for name in [*own, *(name for name in others if name not in own)]:
        one, other = (_kind_of(each.get(name)) for each in (others, own))
        if one != other:
            raise ValueError(
                f"{name} of the model is {one} in the checkpoint {path} and {other} here; make the "
                "model as it was"
            )


def _kind_of(value: object) -> str:
    if value is None:
        return "not there"
    if not isinstance(value, torch.Tensor):
        return type(value).__name__
    return f"{tuple(value.shape)} of {str(value.dtype).removeprefix('torch.')}"


def _require_same_optimizer(
    path: str, saved: Mapping[str, Any], optimizer: torch.optim.Optimizer
) -> None:
    facts, own = saved["optimizer_facts"], optimizer_facts(optimizer)
    if facts["kind"] != own["kind"]:
        raise _other_optimizer(path, f"is {facts['kind']:.100}", f"{own['kind']}")
    groups = saved["optimizer"]["param_groups"]
    own_groups = optimizer.state_dict()["param_groups"]
    sizes, own_sizes = ([len(group["params"]) for group in each] for each in (groups, own_groups))
    if sizes != own_sizes:
        raise _other_optimizer(path, f"has groups of {sizes} parameters", f"of {own_sizes}")
    if facts["shapes"] != own["shapes"]:
        raise _other_optimizer(
            path,
            f"has parameters of the shapes {facts['shapes']!r:.300}",
            f"{own['shapes']!r:.300}",
        )
    for number, (group, own_group) in enumerate(zip(groups, own_groups, strict=True)):
        # One more may be of a schedule that is made later on; one less fails at the next step.
        missing = sorted(set(own_group) - set(group))
        if missing:
            raise _other_optimizer(
                path, f"has no {', '.join(missing)} in its group {number}", "has it"
            )
    if type(optimizer).__module__.startswith("torch.optim."):  # others may use these names too
        _require_shapes_of_state(path, saved["optimizer"], own["shapes"])


def _require_shapes_of_state(
    path: str, saved: Mapping[str, Any], shapes: list[list[list[int]]]
) -> None:
    """Looks at what was kept for each number, of which some code reads as many as there are."""
    for group, group_shapes in zip(saved["param_groups"], shapes, strict=True):
        for number, shape in zip(group["params"], group_shapes, strict=True):
            for name, value in saved["state"].get(number, {}).items():
                if name not in _OF_EACH_NUMBER or value is None:
                    continue
                if not isinstance(value, torch.Tensor) or list(value.shape) != shape:
                    raise damaged(
                        path,
                        f"its part 'optimizer' has {name} of {_kind_of(value)} for a parameter of "
                        f"{tuple(shape)}",
                    )


def _other_optimizer(path: str, saved: str, own: str) -> ValueError:
    return ValueError(
        f"the optimizer {saved} in the checkpoint {path} and {own} here; make the optimizer as it "
        "was"
    )
