"""A callback for Lightning that logs what loaders do. Only this module imports Lightning.

It works with `lightning` and with `pytorch_lightning`: it takes the one that is imported already,
or else the one that is installed.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from graphmount._loading.batch_loader import BatchLoader
from graphmount._support.arguments import as_count

if TYPE_CHECKING:
    from pytorch_lightning import Callback, LightningModule, Trainer
else:

    def _found_callback() -> type:
        """The base class of callbacks, of the package that is in use."""
        names = ("lightning.pytorch", "pytorch_lightning")
        for name in sorted(names, key=lambda name: name not in sys.modules):
            try:
                return importlib.import_module(name).Callback
            except ImportError:
                continue
        raise ImportError("this needs Lightning; install it with: pip install lightning")

    Callback = _found_callback()

__all__ = ["StatsLogger"]


class StatsLogger(Callback):
    """Logs the figures of `stats()` of graphmount's loaders to all loggers of a trainer.

    It does so at the end of each epoch of training, and every few steps if asked to. Loaders that
    are not graphmount's are left alone. With several processes, the first one logs its own.

    Args:
        every_n_steps: Log also every this many steps. If None, log only at the end of each epoch.
        prefix: The beginning of the names of all figures, as in "loader/batches_per_second".

    Examples:
        >>> from graphmount.torch.lightning import StatsLogger
        >>> StatsLogger(every_n_steps=100)
        StatsLogger(every_n_steps=100, prefix='loader')
    """

    def __init__(self, *, every_n_steps: int | None = None, prefix: str = "loader") -> None:
        self._every = (
            None if every_n_steps is None else as_count(every_n_steps, "every_n_steps", least=1)
        )
        self._prefix = prefix

    def __repr__(self) -> str:
        return f"StatsLogger(every_n_steps={self._every}, prefix={self._prefix!r})"

    def on_train_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,  # noqa: ARG002  (Lightning's names)
        outputs: Any,  # noqa: ANN401, ARG002
        batch: Any,  # noqa: ANN401, ARG002
        batch_idx: int,
    ) -> None:
        """Logs every few steps; the trainer calls this.

        Args:
            trainer: The trainer, whose loaders and loggers are used.
            pl_module: The model that is trained; not used.
            outputs: What the training step returned; not used.
            batch: The batch; not used.
            batch_idx: The number of the batch in its epoch.
        """
        if self._every is not None and (batch_idx + 1) % self._every == 0:
            self._log(trainer)

    def on_train_epoch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,  # noqa: ARG002
    ) -> None:
        """Logs the epoch; the trainer calls this.

        Args:
            trainer: The trainer, whose loaders and loggers are used.
            pl_module: The model that is trained; not used.
        """
        self._log(trainer)

    def _log(self, trainer: Trainer) -> None:
        if not trainer.is_global_zero:
            return
        loaders = list(_loaders_in(trainer.train_dataloader))
        for number, loader in enumerate(loaders):
            place = self._prefix if len(loaders) == 1 else f"{self._prefix}/{number}"
            figures = {f"{place}/{name}": value for name, value in loader.stats().figures().items()}
            for logger in trainer.loggers:
                logger.log_metrics(figures, step=trainer.global_step)


def _loaders_in(given: Any) -> list[BatchLoader]:  # noqa: ANN401
    """Our loaders among what a trainer was given: one, or a list or dict of them."""
    if isinstance(given, BatchLoader):
        return [given]
    if isinstance(given, dict):
        given = list(given.values())
    if isinstance(given, list | tuple):
        return [loader for each in given for loader in _loaders_in(each)]
    return []
