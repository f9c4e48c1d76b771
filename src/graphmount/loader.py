"""Loaders: batches of sampled neighbors with their rows, made ahead of the training step."""

from __future__ import annotations

import atexit
import time as clock
import warnings
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount import _core
from graphmount._arguments import as_count, as_ids, as_native, require_choice
from graphmount._loader_inputs import (
    as_input_nodes,
    as_rank,
    open_data,
    share_of,
    share_size,
)
from graphmount._row_feeds import RowFeeds, as_dtypes, make_feeds
from graphmount._seeds import Seed, as_key
from graphmount._sizes import format_bytes, parse_bytes
from graphmount.batch import Batch
from graphmount.direction import Direction, require_direction
from graphmount.loader_stats import LoaderStats, table_stats
from graphmount.memory_report import memory as memory_report
from graphmount.neighbor_sample import make_bidirectional

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from graphmount.dataset import Dataset
    from graphmount.features import FeatureStore, Reader
    from graphmount.graph import Graph
    from graphmount.neighbor_sample import NeighborSample
    from graphmount.neighbor_sampling import SubgraphType, TemporalStrategy

__all__ = ["NeighborLoader"]

_MOST_AHEAD = 63
# More batches than these, and more bytes, look as if they were kept by mistake.
_MANY_BATCHES = 8
_MANY_BYTES = 256 << 20

# Threads of the core must not run when the interpreter is gone.
_running: weakref.WeakSet[_core.BatchPipeline] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    for pipeline in list(_running):
        pipeline.stop()


class NeighborLoader:
    """Batches of seeds with sampled neighbors, and the rows of all their nodes.

    Threads of the core sample ahead, fetch rows ahead, and hand batches over without a copy. They
    work while a loop runs, and end with it. Argument names are PyG's where it has them.

    Args:
        data: A `Dataset`; or a `Graph` alone, or with a `FeatureStore` or a dict of them.
        num_neighbors: How many neighbors to draw in each hop; -1 for all.
        input_nodes: The seeds: ids, a mask, or the name of a split. All nodes if None.
        batch_size: Seeds of a batch.
        shuffle: Order the seeds anew in each epoch.
        drop_last: Leave out the last batch if it is smaller.
        replace: As for `Graph.sample_neighbors`, and so for the next ones.
        weighted: See there.
        disjoint: See there.
        input_time: The time of each seed, as `time` there.
        temporal_strategy: See there.
        subgraph_type: See there.
        direction: See there.
        features: Names of the tables whose rows to fetch; all if None.
        edge_features: Names of the tables of edges to fetch; or, without a dataset, tables by name.
        dtype: What rows are converted to on their way: one dtype for all tables of nodes, or a dict
            with one for some tables, as for `FeatureStore.gather`. As stored if None.
        memory: What caches of rows may take, with all that belongs to them: their bookkeeping, and
            reads in flight, which have 2 MiB for each table even if this is less. Batches that are
            under way or handed out come on top.
        prefetch: Finished batches that may wait to be taken.
        window: Batches to sample ahead. Rows that several of them want are read once.
        reader: How rows come from the disk: "uring", "pread", "mapped", or "auto", which takes what
            suits the file and the system.
        seed: Of all randomness. Drawn if None, as for other calls.
        rank: Which part of the seeds to take, of `world_size`. As torch.distributed says, if None
            and that is set up. All ranks have the same number of batches.
        world_size: How many processes share the seeds.

    Examples:
        >>> import numpy as np
        >>> import graphmount as gm
        >>> x = np.arange(8, dtype=np.float32).reshape(4, 2)
        >>> _ = gm.compile_dataset(
        ...     "four", edges=([3, 3, 3, 1], [0, 1, 2, 2]), features={"x": x}, labels=[0, 1, 0, 1]
        ... )
        >>> loader = gm.NeighborLoader(gm.Dataset("four"), [2, 2], batch_size=3, memory="1MiB")
        >>> for batch in loader:
        ...     print(batch.number, batch.batch_size, batch.labels)
        0 3 [1 1 0]
        1 1 [0]
    """

    def __init__(
        self,
        data: Dataset | Graph | tuple[Graph, FeatureStore | Mapping[str, FeatureStore]],
        num_neighbors: Sequence[int],
        *,
        input_nodes: ArrayLike | str | None = None,
        batch_size: int = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        replace: bool = False,
        weighted: bool = False,
        disjoint: bool = False,
        input_time: ArrayLike | None = None,
        temporal_strategy: TemporalStrategy = "uniform",
        subgraph_type: SubgraphType = "directional",
        direction: Direction = "in",
        features: Iterable[str] | None = None,
        edge_features: Iterable[str] | Mapping[str, FeatureStore] = (),
        dtype: DTypeLike | Mapping[str, DTypeLike] | None = None,
        memory: int | str = "4GiB",
        prefetch: int = 2,
        window: int = 16,
        reader: Reader = "auto",
        seed: Seed = None,
        rank: int | None = None,
        world_size: int | None = None,
    ) -> None:
        require_direction(direction)
        flags = {"shuffle": shuffle, "drop_last": drop_last, "replace": replace}
        flags |= {"weighted": weighted, "disjoint": disjoint}
        for name, flag in flags.items():
            require_choice(name, flag, (False, True))
        require_choice("temporal_strategy", temporal_strategy, ("uniform", "last"))
        require_choice("subgraph_type", subgraph_type, ("directional", "bidirectional", "induced"))
        require_choice("reader", reader, ("auto", "mapped", "pread", "uring"))
        self._data = open_data(data, features, edge_features)
        self._dtypes = as_dtypes(dtype, self._data)
        self._inputs = as_input_nodes(input_nodes, self._data)
        self._times = None if input_time is None else as_ids(input_time, "input_time")
        if self._times is not None and len(self._times) != len(self._inputs):
            raise ValueError(
                f"input_time has {len(self._times)} times for {len(self._inputs)} input nodes"
            )
        self._fanouts = [
            as_count(k, f"num_neighbors[{i}]", least=-1) for i, k in enumerate(num_neighbors)
        ]
        self._batch_size = as_count(batch_size, "batch_size", least=1)
        self._prefetch = as_count(prefetch, "prefetch", least=1)
        self._window = as_count(window, "window", least=1, most=_MOST_AHEAD)
        self._shuffle, self._drop_last = shuffle, drop_last
        self._subgraph_type: SubgraphType = subgraph_type
        self._direction: Direction = direction
        self._disjoint = disjoint or self._times is not None
        self._rule = {
            "replace": replace,
            "weighted": weighted,
            "disjoint": self._disjoint,
            "temporal": self._times is not None,
            "take_last": temporal_strategy == "last",
            "induced": subgraph_type == "induced",
        }
        self._key = as_key(seed)
        self._rank, self._world_size = as_rank(rank, world_size)
        self._memory = parse_bytes(memory, "memory")
        self._reader: Reader = reader
        self._pins_memory = False
        self._feeds: RowFeeds | None = None
        self._pipeline: _core.BatchPipeline | None = None
        self._last: tuple[_core.BatchPipeline, RowFeeds] | None = None
        self._has_warned = False
        # The epoch, how many of its batches are handed out, and if a loop left it in the middle.
        self._epoch = self._handed_out = 0
        self._resumes = self._was_left = False
        # Where epochs end, if before their last batch: for a worker that takes a part of them.
        self._end: int | None = None
        self._begun = clock.monotonic()

    def __getstate__(self) -> dict[str, Any]:
        # A copy, in this process or another, has the options and the place, but no loop or caches.
        return {**vars(self), "_feeds": None, "_pipeline": None, "_last": None}

    def __len__(self) -> int:
        """Batches of an epoch, the same for all ranks."""
        if self._end is not None:
            return self._end
        count = share_size(len(self._inputs), self._world_size, drop_last=self._drop_last)
        batches, rest = divmod(count, self._batch_size)
        return batches + (1 if rest and not self._drop_last else 0)

    def __repr__(self) -> str:
        return (
            f"<NeighborLoader of {self._data.graph!r}: {len(self):,} batches of "
            f"{self._batch_size:,}, num_neighbors={self._fanouts}>"
        )

    def _make_feeds(self) -> RowFeeds:
        return make_feeds(
            self._data,
            self._try_sampling,
            direction=self._direction,
            memory=self._memory,
            window=self._window,
            dtypes=self._dtypes,
            reader=self._reader,
        )

    def _try_sampling(self, number: int) -> NeighborSample:
        """A sample like those of the batches, to see what they want."""
        order = np.roll(self._epoch_order(0), -number * self._batch_size)
        seeds = self._inputs[order[: self._batch_size]]
        return self._data.graph.sample_neighbors(
            seeds,
            self._fanouts,
            replace=self._rule["replace"],
            weighted=self._rule["weighted"],
            disjoint=self._disjoint,
            direction=self._direction,
            seed=(self._key, number),
        )

    def _epoch_order(self, epoch: int) -> NDArray[np.int64]:
        """Places of the seeds of this rank in `input_nodes`, in the order of the epoch."""
        order = np.arange(len(self._inputs))
        if self._shuffle:
            order = np.random.default_rng([self._key, epoch]).permutation(len(self._inputs))
        share = share_of(order, self._rank, self._world_size, drop_last=self._drop_last)
        return share[: len(self) * self._batch_size]

    def __iter__(self) -> Iterator[Batch]:
        self._stop()
        if self._feeds is None:
            self._feeds = self._make_feeds()
        if self._was_left:
            self._epoch += 1
        first = self._handed_out if self._resumes else 0
        self._resumes, self._was_left = False, True
        self._handed_out = first
        order = self._epoch_order(self._epoch)
        pipeline = _core.BatchPipeline(
            graph=self._data.graph._open(),  # noqa: SLF001
            node_feeds=list(self._feeds.nodes.values()),
            edge_feeds=list(self._feeds.edges.values()),
            seeds=np.ascontiguousarray(self._inputs[order]),
            times=np.empty(0, np.int64) if self._times is None else self._times[order],
            sample=_core.SampleOptions(
                fanouts=self._fanouts,
                direction=self._direction,
                key=_core.random_key([self._key, self._epoch]),
                **self._rule,
            ),
            batch_size=self._batch_size,
            first_batch=first,
            num_batches=len(self),
            window=self._window,
            prefetch=self._prefetch,
            pin_memory=self._pins_memory,
        )
        _running.add(pipeline)
        self._pipeline = pipeline
        self._last = pipeline, self._feeds
        self._begun = clock.monotonic()
        return self._batches(pipeline, self._feeds, order, self._epoch)

    def _batches(
        self, pipeline: _core.BatchPipeline, feeds: RowFeeds, order: NDArray[np.int64], epoch: int
    ) -> Iterator[Batch]:
        try:
            while (loaded := self._next(pipeline)) is not None:
                self._handed_out = loaded.number + 1
                yield self._make_batch(loaded, feeds, order, epoch)
            self._epoch, self._handed_out, self._was_left = epoch + 1, 0, False
        finally:
            pipeline.stop()

    def _next(self, pipeline: _core.BatchPipeline) -> _core.LoadedBatch | None:
        """Waits for the next batch. Apart, so that a subclass can put it on a profile."""
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
            stacklevel=4,
        )

    def _make_batch(
        self,
        loaded: _core.LoadedBatch,
        feeds: RowFeeds,
        order: NDArray[np.int64],
        epoch: int,
    ) -> Batch:
        rows = {
            name: as_native(loaded.take_rows(i, feed))
            for i, (name, feed) in enumerate(feeds.by_name.items())
        }
        sample = loaded.take_sample()
        nodes, neighbors, targets, edge_ids, tree = map(as_native, sample.take_arrays())
        row, col = (neighbors, targets) if self._direction == "in" else (targets, neighbors)
        if self._subgraph_type == "bidirectional":
            row, col, edge_ids = make_bidirectional(row, col, edge_ids, len(nodes))
        num_seeds = sample.num_sampled_nodes[0]
        first = loaded.number * self._batch_size
        labels = self._data.labels
        return Batch(
            nodes=nodes,
            row=row,
            col=col,
            edge_ids=edge_ids,
            batch=tree if self._disjoint else None,
            num_sampled_nodes=tuple(sample.num_sampled_nodes),
            num_sampled_edges=(
                tuple(sample.num_sampled_edges) if self._subgraph_type == "directional" else None
            ),
            features={name: rows[name] for name in feeds.nodes},
            edge_features={name: rows[name] for name in feeds.edges},
            labels=None if labels is None else labels[nodes[:num_seeds]],
            input_ids=order[first : first + num_seeds],
            number=loaded.number,
            epoch=epoch,
            dataset=self._data.dataset,
        )

    def _stop(self) -> None:
        pipeline, self._pipeline = self._pipeline, None
        if pipeline is not None:
            pipeline.stop()

    def close(self) -> None:
        """Ends a loop that runs, and frees the caches. A new loop fills them again.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_graph(([0, 1], [1, 2]), "g.gl")
            >>> loader = gm.NeighborLoader(gm.Graph("g.gl"), [1], batch_size=2)
            >>> loader.close()
            >>> len(list(loader))
            2
        """
        self._stop()
        self._feeds = self._last = None

    def state_dict(self) -> dict[str, Any]:
        """Where the loader is: the epoch, and how many of its batches have been handed out.

        After a loop that was left early this is still where it was left, until the next one begins.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_graph(([0, 1], [1, 2]), "g.gl")
            >>> loader = gm.NeighborLoader(gm.Graph("g.gl"), [1], batch_size=2, seed=1)
            >>> batches = iter(loader)
            >>> _ = next(batches)
            >>> loader.state_dict()["batch"]
            1
        """
        return {"epoch": self._epoch, "batch": self._handed_out, "key": self._key}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on where `state_dict` was taken: the next loop begins with the batch after it.

        Examples:
            >>> import graphmount as gm
            >>> _ = gm.compile_graph(([0, 1], [1, 2]), "g.gl")
            >>> loader = gm.NeighborLoader(gm.Graph("g.gl"), [1], batch_size=2, seed=1)
            >>> loader.load_state_dict({**loader.state_dict(), "batch": 1})
            >>> [batch.number for batch in loader]
            [1]
        """
        self._stop()
        self._key = as_count(state["key"], "key", most=2**64 - 1)
        self._epoch = as_count(state["epoch"], "epoch")
        self._handed_out = as_count(state["batch"], "batch", most=len(self))
        self._resumes, self._was_left = True, False

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
        report = memory_report(self._data.graph, *self._data.features.values())
        if self._last is None:
            return LoaderStats(memory=report)
        pipeline, feeds = self._last
        stats = pipeline.stats()
        return LoaderStats(
            batches=stats.batches,
            seconds=clock.monotonic() - self._begun,
            sampled_nodes=stats.sampled_nodes,
            sampled_edges=stats.sampled_edges,
            sample_seconds=stats.sample_seconds,
            feed_seconds=stats.feed_seconds,
            sampling_waited_for=stats.feed_wait_seconds,
            taker_waited_for=stats.ready_wait_seconds,
            waited_for_batches=stats.taker_wait_seconds,
            held_batches=stats.held_batches,
            held_bytes=stats.held_bytes,
            tables={
                name: table_stats(feed_stats)
                for name, feed_stats in zip(feeds.by_name, stats.feeds, strict=True)
            },
            memory=report,
        )
