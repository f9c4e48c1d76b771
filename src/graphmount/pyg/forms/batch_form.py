"""What both forms of batches have in common: their class, ids of inputs, links, values of edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import torch

from graphmount._mount.mapped_reads import gather_list_values
from graphmount._support.arguments import as_ids, require_function
from graphmount._support.shown import shown
from graphmount.pyg.sources.labelled_data import LABELS
from graphmount.torch.batches.tensor_batch import to_tensors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from graphmount._mount.graph import Graph
    from graphmount.pyg.sources.data_source import DataSource
    from graphmount.pyg.sources.hetero_source import HeteroSource

#: What a graph has for its edges, by the names of batches.
EdgeValues = dict[str, Literal["weights", "timestamps"]]


@dataclass(frozen=True, kw_only=True)
class FormOptions:
    """What batches of both forms are made by.

    Attributes:
        num_inputs: How many nodes or links the loader has as inputs.
        times: The times of the input nodes, if they have any.
        weight_attr: Under which name batches have the weights of edges, or None.
        time_attr: Under which name batches have the times of edges, or None.
        transform: A function that is called with each batch and returns what the loop gets, or
            None.
        custom_cls: The class of batches, derived from that of PyG; that itself if None.
        input_id: The values of `input_id` in batches, one for each input; the places of the inputs
            if None.
    """

    num_inputs: int
    times: NDArray[np.int64] | None
    weight_attr: str | None
    time_attr: str | None
    transform: Callable[[Any], Any] | None
    custom_cls: type[Any] | None
    input_id: torch.Tensor | None


class BatchForm:
    """Makes objects of PyG of the fields of batches: see `DataForm` and `HeteroForm`.

    Args:
        kind: The class of PyG that batches have.
        source: The object of PyG that the loader was made from, or None.
        options: What batches are made by.

    Raises:
        TypeError, ValueError: These are of other kinds, or too few.
    """

    def __init__(
        self, kind: type[Any], source: DataSource | HeteroSource | None, options: FormOptions
    ) -> None:
        if options.transform is not None:
            require_function("transform", options.transform)
        custom_cls, input_id = options.custom_cls, options.input_id
        is_class = isinstance(custom_cls, type) and issubclass(custom_cls, kind)
        if custom_cls is not None and not is_class:
            raise TypeError(
                f"custom_cls must be a class of {kind.__name__}, not {shown(custom_cls)}"
            )
        for argument in ("weight_attr", "time_attr"):
            name = getattr(options, argument)
            if name is not None and not (isinstance(name, str) and name):
                raise TypeError(f"{argument} must be a name, not {shown(name)}")
        if input_id is not None:
            input_id = torch.from_numpy(as_ids(input_id, "input_id"))
            if len(input_id) != options.num_inputs:
                raise ValueError(
                    f"input_id has {len(input_id)} ids for {options.num_inputs} inputs"
                )
        self._times = options.times
        self._transform = options.transform
        self._input_id = input_id
        self._class = custom_cls or kind
        self._new = source.new_batch if source is not None and custom_cls is None else self._class

    def transformed(self, batches: Iterator[Any]) -> Iterator[Any]:
        """What the loop gets for these batches."""
        return batches if self._transform is None else map(self._transform, batches)

    def transform(self, batch: Any) -> Any:  # noqa: ANN401
        """What a caller gets for one batch."""
        return batch if self._transform is None else self._transform(batch)

    def _begin(self, fields: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """A batch that is to be filled, and the fields as tensors, `times` and `input_id` too."""
        places = fields["input_ids"]
        of = to_tensors({**fields, "times": None if self._times is None else self._times[places]})
        of["input_id"] = of["input_ids"]
        if self._input_id is not None:
            of["input_id"] = self._input_id[of["input_ids"]]
        data = self._new()
        if fields["num_repeated"]:  # else a batch has just what PyG's have
            data.num_repeated = fields["num_repeated"]
        return data, of


def edge_values(graph: Graph, weight_attr: str | None, time_attr: str | None) -> EdgeValues:
    """What a graph has for its edges, of what batches have."""
    found: EdgeValues = {}
    if graph.has_weights:
        found[weight_attr or "edge_weight"] = "weights"
    if time_attr is not None and graph.has_timestamps:
        found[time_attr] = "timestamps"
    return found


def gather_edge_values(
    graph: Graph, values: EdgeValues, edge_ids: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    """The values of these edges, by their names."""
    # By edge id, which is the place in these lists.
    direction = graph.directions[0]
    return {
        name: gather_list_values(graph, of_edges, direction, edge_ids)
        for name, of_edges in values.items()
    }


def with_flat_labels(tables: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Tables of which the labels are a vector, where there is one for each node."""
    if LABELS in tables and tables[LABELS].shape[1:] == (1,):
        return {**tables, LABELS: tables[LABELS].squeeze(1)}
    return tables


def add_links(of: Mapping[str, Any], links: Any, sources: Any, destinations: Any) -> None:  # noqa: ANN401
    """Adds what a batch has of its links to the parts of it where PyG has it.

    Args:
        of: The fields of the batch.
        links: The part of the relation.
        sources: The part of the nodes that links come from.
        destinations: The part of the nodes that links go to.
    """
    links.input_id = of["input_id"]
    if of["edge_label_index"] is not None:
        for name in ("edge_label_index", "edge_label", "edge_label_time"):
            links[name] = of[name]
        return
    sources.src_index = of["src_index"]
    destinations.dst_pos_index = of["dst_pos_index"]
    # PyG has a vector where there is one for each link.
    destinations.dst_neg_index = of["dst_neg_index"].squeeze(-1)
    sources.seed_time = destinations.seed_time = of["edge_label_time"]
