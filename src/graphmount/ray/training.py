"""The processes of a training, as Ray Train starts them: what a training function asks first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from graphmount.errors import RankError
from graphmount.torch.ranks import group

if TYPE_CHECKING:
    from ray.train import TrainContext


class RankGroup(group.RankGroup):
    """The processes that train together, inside of a training function of Ray Train.

    It is `graphmount.torch.RankGroup` with what Ray knows: a training function for torchrun that
    takes it instead runs in a `TorchTrainer`. Ray has set torch.distributed up before the function
    is called, and ends it afterwards; `TorchConfig(timeout_s=)` of the trainer is how long ranks
    wait for each other. If a rank dies, the others end with a `RankError` that names it, and Ray
    starts all of them again, as often as `FailureConfig(max_failures=)` says.

    Loaders that are made inside of the `with` take the part of this rank, share hot rows with the
    other ranks of the machine, and divide `memory=` among them.

    Attributes:
        rank: The number of this process, from 0 on.
        world_size: How many processes there are. Ray may change it when it starts them again.
        local_world_size: How many of them are on this machine.

    Raises:
        RankError: It is used outside of a training function of Ray Train; or another process did
            not come, has ended, or does not answer.

    Examples:
        >>> import graphmount as gm
        >>> import graphmount.ray
        >>> from ray.train import ScalingConfig
        >>> from ray.train.torch import TorchTrainer
        >>> def train():
        ...     with gm.ray.RankGroup() as ranks:
        ...         print(ranks.rank, ranks.world_size, ranks.gather("here"))
        >>> alone = ScalingConfig(num_workers=0)  # in this process, to try it out
        >>> _ = TorchTrainer(train, scaling_config=alone).fit()
        0 1 ['here']
    """

    def __init__(self) -> None:
        super().__init__()
        self.local_world_size = 1

    def __enter__(self) -> Self:
        """Waits until all processes are there."""
        context = context_of_ray()
        super().__enter__()
        self.local_world_size = int(context.get_local_world_size())
        return self


def context_of_ray() -> TrainContext:
    """What Ray Train knows of this process.

    Raises:
        RankError: This is no process that Ray Train has started.
    """
    import ray.train

    try:
        context: Any = ray.train.get_context()
    except RuntimeError as error:
        raise RankError(
            "this is no training function of Ray Train, so there is nothing to take ranks and "
            "storage from; call it in a function that is given to ray.train.torch.TorchTrainer, "
            "or use graphmount.torch for torchrun and for a process alone"
        ) from error
    return context


def storage_of(context: TrainContext) -> Any:  # noqa: ANN401
    """Where a run keeps its checkpoints.

    Raises:
        RankError: It has no such place.
    """
    try:
        return context.get_storage()
    except NotImplementedError as error:
        raise RankError(
            "Ray keeps no checkpoints of a training with num_workers=0, which runs in the process "
            "of its caller; take num_workers=1, or graphmount.torch.save_checkpoint"
        ) from error
