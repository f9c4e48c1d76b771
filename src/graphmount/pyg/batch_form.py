"""What both forms of batches have in common: their class, ids of inputs, and a user's transform."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from graphmount._support.arguments import as_ids, require_function
from graphmount._support.shown import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray


class BatchForm:
    """Makes objects of PyG of the fields of batches: see `DataForm` and `HeteroForm`.

    Args:
        kind: The class of PyG that batches have.
        num_inputs: How many nodes or links the loader has as inputs.
        times: The times of the input nodes, if they have any.
        weight_attr: Under which name batches have the weights of edges, or None.
        time_attr: Under which name batches have the times of edges, or None.
        transform: A function that is called with each batch and returns what the loop gets, or
            None.
        custom_cls: The class of batches, derived from `kind`; that itself if None.
        input_id: The values of `input_id` in batches, one for each input; the places of the inputs
            if None.

    Raises:
        TypeError, ValueError: These are of other kinds, or too few.
    """

    def __init__(
        self,
        kind: type[Any],
        *,
        num_inputs: int,
        times: NDArray[np.int64] | None,
        weight_attr: str | None,
        time_attr: str | None,
        transform: Callable[[Any], Any] | None,
        custom_cls: type[Any] | None,
        input_id: torch.Tensor | None,
    ) -> None:
        if transform is not None:
            require_function("transform", transform)
        is_class = isinstance(custom_cls, type) and issubclass(custom_cls, kind)
        if custom_cls is not None and not is_class:
            raise TypeError(
                f"custom_cls must be a class of {kind.__name__}, not {shown(custom_cls)}"
            )
        for argument, name in {"weight_attr": weight_attr, "time_attr": time_attr}.items():
            if name is not None and not (isinstance(name, str) and name):
                raise TypeError(f"{argument} must be a name, not {shown(name)}")
        if input_id is not None:
            input_id = torch.from_numpy(as_ids(input_id, "input_id"))
            if len(input_id) != num_inputs:
                raise ValueError(f"input_id has {len(input_id)} ids for {num_inputs} inputs")
        self._times = times
        self._transform = transform
        self._custom_cls = custom_cls
        self._input_id = input_id

    def transformed(self, batches: Iterator[Any]) -> Iterator[Any]:
        """What the loop gets for these batches."""
        return batches if self._transform is None else map(self._transform, batches)

    def transform(self, batch: Any) -> Any:  # noqa: ANN401
        """What a caller gets for one batch."""
        return batch if self._transform is None else self._transform(batch)
