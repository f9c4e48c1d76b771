"""What all loaders have in common: the pipeline of an epoch, caches, resuming, ranks and figures.

There is one loader for each kind of inputs, nodes and links. It says which seeds they have
(`_make_seeds`), and which fields batches get from them (`_batch_fields`). The loaders of torch and
PyG differ only in the form of a batch (`_make_batch`).

All calls may overlap. A loader has one loop at a time: `iter`, `close` and `load_state_dict` end
the running loop, even in another thread, and wait for each other. One thread at a time takes
batches.
"""

from __future__ import annotations

import functools
import os
import warnings
import weakref
from abc import abstractmethod
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NoReturn

from graphmount import _core
from graphmount._loading.batch_fields import BatchFields
from graphmount._loading.batches.aggregation import aggregated_tables, require_targets
from graphmount._loading.epochs.replay import Replayed
from graphmount._loading.epochs.state import Resumed
from graphmount._loading.epochs.stats import LoaderStats
from graphmount._loading.inputs import places_to_try, require_edge_ids
from graphmount._loading.loop_record import LoopRecord
from graphmount._loading.memory_budget import advise_graphs, require_headroom
from graphmount._loading.ranks.shared_rows import sharing_of
from graphmount._loading.row_feeds import RowFeed, as_dtypes, make_feeds
from graphmount._mount.memory_report import memory as memory_report
from graphmount._support.arguments import as_count, require_choice
from graphmount._support.display import Displayed, one_line
from graphmount._support.seeds import Seed, as_key
from graphmount._support.shown import shown
from graphmount._support.sizes import format_bytes
from graphmount._support.threads.interpreter_exit import running
from graphmount._support.threads.one_taker import OneTaker
from graphmount._support.threads.process_lock import ProcessLock

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping
    from contextlib import AbstractContextManager

    import numpy as np
    from numpy.typing import DTypeLike, NDArray

    from graphmount._loading.batches.aggregation import AggregateLast
    from graphmount._loading.data.loader_data import AnyData, EdgeIds
    from graphmount._loading.memory_budget import MemoryBudget
    from graphmount._loading.ranks.ranks import Ranks
    from graphmount._mount.features import Reader
    from graphmount._mount.sampling_rule import SamplingRule

_MOST_AHEAD = 63
_MOST_WAITING = 1 << 16
# More batches than these, and more bytes, look as if they were kept by mistake.
_MANY_BATCHES = 8
_MANY_BYTES = 256 << 20

# A child of fork has none of the threads: it forgets loops and caches, and makes its own.
_NO_LOOP: dict[str, Any] = {"_feeds": None, "_pipeline": None, "_last": None}
_loaders: weakref.WeakSet[BatchLoader] = weakref.WeakSet()


def _forget_those_of_the_parent() -> None:
    for loader in list(_loaders):
        vars(loader).update(_NO_LOOP)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_those_of_the_parent)


class BatchLoader(Displayed, Resumed, Replayed, BatchFields):
    """A loader of any kind of seeds; see `NeighborLoader` for the options."""

    _pins_memory = False
    #: Tables of nodes that are labels, whatever they hold.
    _label_tables: frozenset[str] = frozenset()
    #: Marks a range of time in a profile, where there is a profiler.
    _range: Callable[[str], AbstractContextManager[Any]] = nullcontext

    def __init__(
        self,
        data: AnyData,
        rule: SamplingRule,
        *,
        num_inputs: int,
        batch_size: int,
        shuffle: bool,
        drop_last: bool,
        edge_ids: EdgeIds,
        dtype: DTypeLike | Mapping[str, DTypeLike] | None,
        budget: MemoryBudget,
        prefetch: int,
        window: int,
        reader: Reader,
        seed: Seed,
        ranks: Ranks,
        aggregate_last: AggregateLast | None = None,
    ) -> None:
        for name, flag in {"shuffle": shuffle, "drop_last": drop_last}.items():
            require_choice(name, flag, (False, True))
        require_choice("reader", reader, ("auto", "mapped", "pread", "uring"))
        require_edge_ids(edge_ids, data)
        if data.is_typed and aggregate_last is not None:
            raise ValueError(
                f"aggregate_last={shown(aggregate_last)} is for datasets of one type of nodes: "
                "here, rows would be summed once for each relation that they are read for. Leave "
                "it out; batch.adjs has the matrices of each relation, with which layers sum fast"
            )
        require_targets(
            aggregate_last,
            subgraph_type=rule.subgraph_type,
            direction=rule.direction,
            num_neighbors=rule.fanouts,
        )
        self._data = data
        self._rule = rule
        self._num_inputs = num_inputs
        self._edge_ids: EdgeIds = edge_ids
        # If the dataset kept the order of its source, external and internal ids are the same.
        self._translates = data.speaks_source and data.has_external_ids
        self._dtypes = as_dtypes(dtype, data)
        self._aggregate_last = aggregate_last
        self._aggregated = aggregated_tables(
            aggregate_last,
            data.tables.get("nodes", {}),
            {name: wanted for (space, name), wanted in self._dtypes.items() if space == "nodes"},
            self._label_tables,
        )
        self._batch_size = as_count(batch_size, "batch_size", least=1)
        self._prefetch = as_count(prefetch, "prefetch", least=1, most=_MOST_WAITING)
        self._window = as_count(window, "window", least=1, most=_MOST_AHEAD)
        self._shuffle, self._drop_last = shuffle, drop_last
        self._ranks = ranks
        self._rank, self._world_size = ranks.rank, ranks.world_size
        self._budget = budget
        self._memory = budget.num_bytes
        self._key = as_key(seed)  # the last: options that are refused draw no seed
        self._reader: Reader = reader
        self._feeds: list[RowFeed] | None = None
        self._pipeline: _core.BatchPipeline | None = None
        self._last: LoopRecord | None = None
        self._has_warned = False
        # The epoch, how many of its batches are handed out, and if a loop left it in the middle.
        self._epoch = self._handed_out = 0
        self._resumes = self._was_left = False
        self._facts: dict[str, Any] | None = None
        self._lock = ProcessLock()
        _loaders.add(self)

    def __getstate__(self) -> dict[str, Any]:
        # A copy, in this process or another, has the options and the place, but no loop or caches.
        return {name: value for name, value in vars(self).items() if name != "_lock"} | _NO_LOOP

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = ProcessLock()
        _loaders.add(self)

    @abstractmethod
    def _make_seeds(
        self, order: NDArray[np.int64], batch_size: int | None = None
    ) -> _core.SeedSource:
        """The seeds of an epoch's batches, which have the inputs in this order."""

    def __repr__(self) -> str:
        return one_line(
            f"<{type(self).__name__} of {self._data.title}: {len(self):,} batches of "
            f"{self._batch_size:,}, num_neighbors={self._data.shown_fanouts(self._rule)}>"
        )

    def _shown_fields(self) -> dict[str, object]:
        last = {} if self._aggregate_last is None else {"aggregate_last": self._aggregate_last}
        return {
            **self._data.shown_files(),
            "tables": ", ".join(map(self._data.shown_table, self._data.by_key)) or "none",
            "batches": f"{len(self):,} of {self._batch_size:,} inputs, from {self._num_inputs:,}",
            "num_neighbors": self._data.shown_fanouts(self._rule),
            **last,
            "memory": f"{format_bytes(self._memory)}, {self._budget.source}",
            "place": f"epoch {self._epoch}, {self._handed_out:,} batches handed out",
        }

    def __getitem__(self, index: object) -> NoReturn:
        """Refuses items and says what to do: torch's `DataLoader` asks its dataset for items.

        Raises:
            TypeError: Always.
        """
        raise TypeError(
            f"{type(self).__name__} has no item {shown(index)}: it makes batches by itself, in a "
            "loop over it. Leave torch's DataLoader out, or, for work on batches in its workers, "
            "give it a dataset of batches: DataLoader(graphmount.torch.BatchDataset(loader), "
            "batch_size=None, num_workers=2)"
        )

    def _make_feeds(self) -> list[RowFeed]:
        places = places_to_try(self._num_inputs, self._batch_size, self._key)
        seeds = functools.cache(lambda: self._make_seeds(places))
        sampled = self._data.sampled(translates=False)
        sharing = sharing_of(self._ranks, self._budget.given)
        advise_graphs(self._data.graphs.values(), self._memory)
        if self._budget.given is not None and sharing is None:
            require_headroom(self._memory, self._data.by_key.values())
        return make_feeds(
            self._data,
            lambda number: self._try_sampling(sampled, seeds(), number),
            direction=self._rule.direction,
            memory=self._memory,
            window=self._window,
            dtypes=self._dtypes,
            reader=self._reader,
            aggregated=self._aggregated,
            sharing=sharing,
        )

    def _try_sampling(
        self, sampled: _core.SampledGraph, seeds: _core.SeedSource, number: int
    ) -> Any:  # noqa: ANN401
        """A sample like those of the batches, to see what they want."""
        rule = self._rule.of_all_times()
        options = rule.to_core(_core.random_key([self._key, number]))
        sample, _ = sampled.sample(seeds, number % max(seeds.num_batches, 1), options)
        return self._data.take_sample(rule, sample)[0]

    def _loop(self) -> Iterator[Any]:
        """A loop in place of the one that runs.

        If it cannot begin, the place stays as it was. The running loop ends only when everything
        is ready for the next one, except its threads.
        """
        with self._lock:
            return self._begin_loop()

    def _begin_loop(self) -> Iterator[Any]:
        graph = self._data.sampled(translates=self._translates)
        if self._feeds is None:
            self._feeds = self._make_feeds()
        epoch = self._epoch + (1 if self._was_left else 0)
        first = self._handed_out if self._resumes else 0
        order = self._epoch_order(epoch)
        seeds = self._make_seeds(order)
        sample = self._rule.to_core(
            _core.random_key([self._key, epoch]), rank=self._rank, world_size=self._world_size
        )
        self._stop()
        pipeline = _core.BatchPipeline(
            graph=graph,
            feeds=[feed.core for feed in self._feeds],
            seeds=seeds,
            sample=sample,
            first_batch=first,
            window=self._window,
            prefetch=self._prefetch,
            pin_memory=self._pins_memory,
            external_nodes=self._translates,
            source_rows=self._edge_ids == "source" and not self._wants_edge_ids,
            turned_edges=self._turns_edges,
        )
        running.add(pipeline)
        record = LoopRecord(
            pipeline=pipeline,
            data=self._data,
            feeds=self._feeds,
            epoch=epoch,
            epoch_batches=len(self),
        )
        self._set(
            _epoch=epoch,
            _handed_out=first,
            _resumes=False,
            _was_left=True,
            _pipeline=pipeline,
            _last=record,
        )
        return OneTaker(self._batches(record, order))

    def _batches(self, record: LoopRecord, order: NDArray[np.int64]) -> Generator[Any]:
        pipeline, feeds, epoch = record.pipeline, record.feeds, record.epoch
        try:
            while (loaded := self._next(pipeline)) is not None:
                with self._lock:
                    self._require_current(pipeline)
                    self._handed_out = loaded.number + 1
                yield self._make_batch(self._batch_fields(loaded, feeds, order, epoch))
            with self._lock:
                self._require_current(pipeline)
                self._set(_epoch=epoch + 1, _handed_out=0, _was_left=False)
        finally:
            record.end()
            pipeline.stop()

    def _set(self, **values: Any) -> None:  # noqa: ANN401
        """Sets all attributes at once, so that a child of fork has all of them or none."""
        vars(self).update(values)

    def _require_current(self, pipeline: _core.BatchPipeline) -> None:
        """Only the loop that began last says where the loader is."""
        if self._pipeline is not pipeline:
            raise RuntimeError(
                "this loop was ended by another one over the same loader, by its close() or its "
                "load_state_dict(); begin a new one"
            )

    def _next(self, pipeline: _core.BatchPipeline) -> _core.LoadedBatch | None:
        """Waits for the next batch."""
        with self._range("graphmount.wait"):
            loaded = pipeline.next()
        if not self._has_warned:
            self._warn_of_kept_batches(pipeline.stats())
        return loaded

    def _warn_of_kept_batches(self, stats: _core.PipelineStats) -> None:
        kept = stats.held_batches - self._prefetch
        if kept <= _MANY_BATCHES or stats.held_bytes <= max(self._memory, _MANY_BYTES):
            return
        self._has_warned = True
        warnings.warn(
            f"{kept} batches of this loader are still in use, and their rows take "
            f"{format_bytes(stats.held_bytes)}; its caches have memory={format_bytes(self._memory)}"
            ". Copy what you need of batches, or let them go",
            UserWarning,
            stacklevel=5,
        )

    def _stop(self) -> None:
        pipeline, self._pipeline = self._pipeline, None
        if pipeline is not None:
            pipeline.stop()

    def close(self) -> None:
        """Ends a running loop, and frees the caches. A new loop fills them again.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_graph(([0, 1], [1, 2]), "g.gl")
            >>> loader = gm.NeighborLoader(gm.Graph("g.gl"), [1], batch_size=2)
            >>> loader.close()
            >>> len(list(loader))
            2
        """
        with self._lock:
            self._stop()
            for feed in self._feeds or ():
                if feed.offer is not None:  # a loop that somebody holds has the feeds as well
                    feed.offer.close()
            self._feeds = self._last = None

    def stats(self) -> LoaderStats:
        """What the loader did in its current or last epoch: see `LoaderStats`.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_graph(([0, 1], [1, 2]), "g.gl")
            >>> loader = gm.NeighborLoader(gm.Graph("g.gl"), [1], batch_size=2)
            >>> for batch in loader:
            ...     pass
            >>> loader.stats().batches
            2
        """
        tables = (
            store
            for (space, _), store in self._data.by_key.items()
            if self._data.is_of_nodes(space)
        )
        report = memory_report(*self._data.graphs.values(), *tables)
        others: dict[str, Any] = {
            "epoch_repeated": self._epoch_repeated,
            "budget_bytes": self._memory,
            "budget_source": self._budget.source,
            "memory": report,
        }
        last = self._last
        if last is None:
            return LoaderStats(epoch=self._epoch, epoch_batches=len(self), **others)
        return last.stats(**others)
