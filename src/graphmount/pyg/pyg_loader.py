"""What both loaders of this package have beside options: PyG's form of batches, and its calls."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import torch
import torch.utils.data
from torch_geometric.data import Data

from graphmount import _core
from graphmount._loading.batch_loader import BatchLoader
from graphmount._loading.batches.aggregation import aggregate_rows
from graphmount._loading.data.typed_data import TypedData
from graphmount._support.arguments import as_ids, as_native, as_plain
from graphmount.pyg.forms.batch_form import FormOptions
from graphmount.pyg.forms.data_form import DataForm
from graphmount.pyg.forms.hetero_form import HeteroForm
from graphmount.pyg.loader_options import warn_of_workers
from graphmount.pyg.sources.labelled_data import LABELS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from numpy.typing import ArrayLike, NDArray

    from graphmount._loading.data.loader_data import Rows
    from graphmount._loading.row_feeds import RowFeed
    from graphmount.pyg.sources.data_source import DataSource
    from graphmount.pyg.sources.hetero_source import HeteroSource

#: Keeps the random draws of calls apart from those of epochs.
_CALLS = 0x63616C6C


DataT = TypeVar("DataT", bound=Data)


class PygLoader(BatchLoader, Generic[DataT]):
    """A loader whose batches are PyG's `Data`."""

    _form: DataForm | HeteroForm
    _source: DataSource | HeteroSource | None
    _given: Any
    _num_calls = 0
    #: Whether `collate_fn` calls the transform by itself: PyG's `ZipLoader` sets this.
    filter_per_worker: bool | None = None
    _is_for_layers = True
    _label_tables = frozenset({LABELS})

    def _make_form(self, **options: Any) -> Any:  # noqa: ANN401
        """The form of batches: `HeteroData` of many types, `Data` of one."""
        data: Any = self._data
        source: Any = self._source
        made = FormOptions(num_inputs=self._num_inputs, **options)
        if isinstance(data, TypedData):
            return HeteroForm(data, source=source, options=made)
        return DataForm(data, source=source, aggregated=self._aggregated, options=made)

    def __iter__(self) -> Iterator[DataT]:
        return self._form.transformed(self._loop())

    def __call__(self, index: ArrayLike | torch.Tensor) -> DataT:
        """A batch of the inputs at these positions, made at once, as PyG's loaders make it.

        A loop that runs goes on. The rows come from the files, and not through the caches of loops.

        Args:
            index: Positions in `input_nodes`, or in the links, -1 for the last of them; or a mask
                with a bool for each.

        Raises:
            IndexError: There is no such input, or none is asked for.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.pyg
            >>> _ = gm.compile_dataset("ring", edges=([0, 1, 2], [1, 2, 0]), order="given")
            >>> gm.pyg.NeighborLoader("ring", [1], input_nodes=[2, 1])([1]).n_id
            tensor([1, 0])
        """
        batch: DataT = self.filter_fn(self._batch_at(self._places(index)))
        return batch

    def collate_fn(self, index: ArrayLike | torch.Tensor) -> Any:  # noqa: ANN401
        """What PyG's `ZipLoader` asks its loaders for: a batch of these positions, made at once.

        It has not gone through `transform=` yet, unless `filter_per_worker` of this object is set.

        Args:
            index: Positions in `input_nodes`, or in the links, as in a call of the loader.

        Raises:
            IndexError: There is no such input, or none is asked for.

        Examples:
            >>> from torch_geometric.loader import ZipLoader
            >>> import graphmount as gm
            >>> import graphmount.pyg
            >>> _ = gm.compile_dataset("zipped", edges=([0, 1, 2], [1, 2, 0]), order="given")
            >>> loaders = [gm.pyg.NeighborLoader("zipped", [1], input_nodes=[n]) for n in (0, 2)]
            >>> [[batch.n_id.tolist() for batch in pair] for pair in ZipLoader(loaders)]
            [[[0, 2], [2, 1]]]
        """
        batch = self._batch_at(self._places(index))
        return self.filter_fn(batch) if self.filter_per_worker else batch

    def filter_fn(self, batch: Any) -> Any:  # noqa: ANN401
        """What `ZipLoader` asks for next: the batch as the loop gets it, after `transform=`.

        Args:
            batch: What `collate_fn` has made.

        Examples:
            >>> import graphmount as gm
            >>> import graphmount.pyg
            >>> _ = gm.compile_dataset("filtered", edges=([0, 1, 2], [1, 2, 0]), order="given")
            >>> loader = gm.pyg.NeighborLoader("filtered", [1], transform=lambda batch: batch.n_id)
            >>> loader.filter_fn(loader.collate_fn([1]))
            tensor([1, 0])
        """
        return self._form.transform(batch)

    def enable_cpu_affinity(self, loader_cores: Any = None) -> AbstractContextManager[None]:  # noqa: ANN401
        """For scripts of PyG: it ties worker processes to cores, and there are none here.

        A warning says so. `taskset` or the affinity of the process counts for the threads that make
        batches.

        Args:
            loader_cores: The cores that PyG would use; without effect.

        Examples:
            >>> import warnings
            >>> import graphmount as gm
            >>> import graphmount.pyg
            >>> _ = gm.compile_dataset("cores", edges=([0, 1, 2], [1, 2, 0]), order="given")
            >>> loader = gm.pyg.NeighborLoader("cores", [1], batch_size=3)
            >>> with warnings.catch_warnings(action="ignore"), loader.enable_cpu_affinity([0]):
            ...     print([batch.num_nodes for batch in loader])
            [3]
        """
        del loader_cores
        warn_of_workers(["enable_cpu_affinity"], stacklevel=3)
        return nullcontext()

    def enable_multithreading(
        self, worker_threads: int | None = None
    ) -> AbstractContextManager[None]:
        """For scripts of PyG: it gives threads to worker processes, and there are none here.

        A warning says so. `graphmount.set_num_threads` says how many threads make batches.

        Args:
            worker_threads: How many threads each of PyG's workers would have; without effect.

        Examples:
            >>> import warnings
            >>> import graphmount as gm
            >>> import graphmount.pyg
            >>> _ = gm.compile_dataset("threads", edges=([0, 1, 2], [1, 2, 0]), order="given")
            >>> loader = gm.pyg.NeighborLoader("threads", [1], batch_size=3)
            >>> with warnings.catch_warnings(action="ignore"), loader.enable_multithreading(2):
            ...     print([batch.num_nodes for batch in loader])
            [3]
        """
        del worker_threads
        warn_of_workers(["enable_multithreading"], stacklevel=3)
        return nullcontext()

    def _places(self, index: Any) -> NDArray[np.int64]:  # noqa: ANN401
        """The positions from 0 on that are meant by those that are given, as in PyG."""
        count = self._num_inputs
        # A list of bools would be positions 0 and 1 in PyG, and is refused here.
        is_mask = getattr(index, "dtype", None) in (torch.bool, np.dtype(np.bool_))
        if is_mask and tuple(index.shape) != (count,):
            raise IndexError(f"index is a mask of shape {tuple(index.shape)} for {count} inputs")
        places = np.flatnonzero(as_plain(index, "index")) if is_mask else as_ids(index, "index")
        wrong = (places < -count) | (places >= count)
        if len(places) == 0 or wrong.any():
            found = f"has {places[wrong][0]}" if len(places) else "is empty"
            raise IndexError(
                f"index {found}; pass positions of the inputs, from 0 to {count - 1}, or from "
                f"{-count} to -1 to count from the end"
            )
        return np.where(places < 0, places + count, places)

    def _batch_at(self, places: NDArray[np.int64]) -> Any:  # noqa: ANN401
        """A batch of the inputs at these places, made at once; no loop ends for it."""
        with self._lock:
            number, self._num_calls = self._num_calls, self._num_calls + 1
        # Workers of `ZipLoader` begin to count anew in each epoch, and have a seed for it.
        worker = torch.utils.data.get_worker_info()
        epoch = [] if worker is None else [worker.seed % 2**63]
        key = _core.random_key([self._key, _CALLS, number, *epoch])
        seeds = self._make_seeds(places, len(places))
        found, ends = self._data.sampled(translates=False).sample(seeds, 0, self._rule.to_core(key))
        sample: Any = self._data.take_sample(self._rule, found)[0]
        rows: Rows = {space: {} for space in self._data.tables}
        for (space, name), store in self._data.by_key.items():
            rows[space][name] = store._gather(  # noqa: SLF001  (internal ids)
                self._data.ids_of(sample, space),
                dtype=self._dtypes[space, name],
                reader=self._reader,
            )
        aggregated: dict[str, NDArray[Any]] = {}
        for name, reduce in self._aggregated.items():
            if name in rows["nodes"]:
                rows["nodes"][name], aggregated[name] = aggregate_rows(
                    rows["nodes"][name], sample, reduce
                )
        sample = self._data.translated(
            sample,
            nodes=self._translates,
            edges=self._edge_ids == "source" and not self._wants_edge_ids,
        )
        fields = self._fields(sample, rows, as_native(ends), places)
        place = {"number": 0, "epoch": self._epoch, "num_repeated": 0}
        return self._make_batch(fields | place | {"aggregated": aggregated})

    def _make_batch(self, fields: dict[str, Any]) -> Any:  # noqa: ANN401
        return self._form(fields)

    @property
    def _wants_edge_ids(self) -> bool:
        return self._form.has_edge_values

    def _edge_values(self, edge_ids: Any) -> dict[str, Any]:  # noqa: ANN401
        return {"edge_values": self._form.edge_values(edge_ids)}

    def _make_feeds(self) -> list[RowFeed]:
        source = self._source
        if source is not None:  # scripts delete what they do not want from loader.data
            kept: dict[Any, Any] = {
                space: {name: table for name, table in tables.items() if source.has(space, name)}
                for space, tables in self._data.tables.items()
            }
            self._data = replace(self._data, tables=kept)
        return super()._make_feeds()

    @property
    def data(self) -> Any:  # noqa: ANN401
        """What the loader was made of: the `Data`, the `Dataset` (also of a path), or the graph."""
        if self._source is not None:
            return self._source.data
        return self._data.dataset or self._given

    @property
    def dataset(self) -> range:
        """The places of the inputs: what PyTorch's loaders have there."""
        return range(self._num_inputs)

    @property
    def batch_size(self) -> int:
        """Inputs of a batch."""
        return self._batch_size
