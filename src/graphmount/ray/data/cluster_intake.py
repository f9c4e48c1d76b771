"""Edges on their way into one graph file, by tasks on the cluster.

Ray runs the dataset once and keeps its blocks. Tasks look at each block, count its entries, and cut
them by ranges of the nodes that own them. A task for each range sorts its entries into lists, as
the compiler sorts those of a bucket. For the second direction, tasks turn the lists round and cut
them again. This process writes the lists of all ranges in their order, through the writer of the
compiler. So the bytes are those of a compile on one machine, whatever is lost and made anew on the
way. It holds the map of ids if there is one, the new numbers of nodes, and the lists of one range.
"""

from __future__ import annotations

import functools
import os
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import ray

from graphmount import _core
from graphmount._compile.edges.intake import EdgeIntake, WrittenGraph
from graphmount._compile.edges.key_map import shown_key
from graphmount._sources.arrow.ray_tables import WholeTable, failures_of
from graphmount._sources.contract.claims import MOST_NODES, is_plausible
from graphmount._support.sizes import format_bytes
from graphmount._support.threads.lost_interrupts import interrupts_come_again
from graphmount.errors import BudgetError, GraphmountError, SourceError
from graphmount.ray.data import tasks
from graphmount.ray.data.node_ranges import Limits, Window, cut_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from graphmount._compile.edges.graph_options import GraphOptions
    from graphmount._sources.arrow.cluster_edges import ClusterSource

#: Besides a block, a task has a batch of its columns, and the entries that are made of it.
_BLOCK_SHARE = 3


class _KeptBlock(NamedTuple):
    """A block that Ray keeps until the graph is written."""

    ref: Any
    place: tasks.Place
    numbers: Any  # a reference to the numbers of its keys; None where ids are numbers


class _Written:
    """A graph file, and how much of it is written.

    Args:
        graph: The file.
        total: How many entries it will have.
        report: Called with how many it has, and will have.
    """

    def __init__(
        self, graph: _core.JoinedGraph, total: int, report: Callable[[int, int], None]
    ) -> None:
        self._graph, self._total, self._report = graph, total, report
        self._done = 0

    def append(self, first_node: int, lists: Any) -> None:  # noqa: ANN401
        """Writes the lists of the next nodes."""
        self._graph.append(first_node, lists)
        self._done += len(lists[1])
        self._report(self._done, self._total)


class ClusterIntake(EdgeIntake):
    """Edges of Ray Data on their way into one graph file, by tasks on the cluster.

    Args:
        source: The edges.
        options: What to make of them.
        rest: As for `EdgeIntake`.
    """

    def __init__(self, source: ClusterSource, options: GraphOptions, **rest: Any) -> None:  # noqa: ANN401
        super().__init__(source, options, **rest)
        _require_room(source.task_memory)
        self._table = source.table
        self._task_memory = source.task_memory
        self._blocks: list[_KeptBlock] = []
        self._num_read = self._end = 0
        reading = tasks.Reading(
            whole=WholeTable(source.table.name, source.table.schema),
            request=replace(source.request, source=None),
            lists=self._lists,
            is_mapped=self._map is not None,
            has_text_ids=source.has_text_ids,
            memory=source.task_memory,
        )
        self._direction = reading.direction
        self._reading = ray.put(reading)

    @property
    def num_rows(self) -> int:
        """See `EdgeIntake`."""
        return self._num_read

    def _num_seen(self) -> int:
        return self._end if self._num_nodes is None else self._num_nodes

    def set_memory(self, memory: int) -> None:
        """See `EdgeIntake`: this process holds no edges."""
        self._memory = max(memory, 0)

    def _read_all(self, report: Callable[[int, int], None] | None) -> None:
        del report  # how many blocks there will be is not known
        known = ray.put(self._ends(self._num_sources, self._num_nodes))
        begun: list[tuple[Any, Any, Any]] = []
        with self._tidy():
            row = 0
            for number, block in enumerate(self._table.blocks()):
                if block.num_bytes * _BLOCK_SHARE > self._task_memory:
                    raise BudgetError(
                        f"{self._table.name}: block {number} has {format_bytes(block.num_bytes)}, "
                        "and a task needs three times as much; pass task_memory="
                        f"{block.num_bytes * _BLOCK_SHARE} or more, or make smaller blocks with "
                        "dataset.repartition"
                    )
                place = tasks.Place(number, row)
                found = self._start(tasks.look, self._reading, block.ref, place, known, returns=2)
                begun.append((block.ref, *found))
                row += block.num_rows
            for ref, seen, keys in begun:
                place, end = self._get(seen)
                self._num_read += place.num_rows
                self._end = max(self._end, end)
                self._blocks.append(_KeptBlock(ref, place, self._number(keys, place)))

    def _number(self, keys: Any, place: tasks.Place) -> Any:  # noqa: ANN401
        """A reference to the numbers of the keys of a block; None if ids are numbers."""
        if self._map is None:
            return None
        found = self._get(keys)
        numbers = self._map.find(found) if self._is_closed else self._map.add_all(found)
        if self._is_closed and (numbers < 0).any():
            raise SourceError(
                f"{self.source.name}, block {place.number} (edges from {place.first_row} on): "
                f"{shown_key(found, int(np.argmax(numbers < 0)))} is not among node_ids"
            )
        return ray.put(numbers)

    def hot_ids(self, *, wide: bool, report: Callable[[int, int], None] | None) -> NDArray[Any]:
        """See `EdgeIntake`."""
        num_nodes = self.num_nodes
        if 8 * num_nodes > self._task_memory:
            raise BudgetError(
                f"counting how often {num_nodes:,} nodes appear takes a task "
                f"{format_bytes(8 * num_nodes)}; pass task_memory={8 * num_nodes} or more, or "
                "order='given'"
            )
        self._require_plausible_nodes(num_nodes)
        ends = ray.put(self._ends(num_nodes, num_nodes))
        num_groups = min(len(self._blocks), _num_cpus())
        with self._tidy():
            found = [
                self._start(
                    tasks.count_appearances, self._reading, self._blocks[group::num_groups], ends
                )
                for group in range(num_groups)
            ]
            counts = np.zeros(num_nodes, np.uint32)
            for done, ref in enumerate(found):
                some = self._get(ref)
                # At most 2**32 - 1, without more memory: what there is room for is added.
                np.add(counts, np.minimum(some, ~counts), out=counts)
                if report is not None:
                    report(done + 1, num_groups)
        return cast("NDArray[Any]", _core.hot_ids_of_counts(counts, wide=wide))

    def _write(
        self,
        path: str,
        external: dict[str, Any],
        new_ids: NDArray[Any] | None,
        report: Callable[[int, int], None] | None,
    ) -> WrittenGraph:
        num_nodes = self.num_nodes
        for ids in external.values():
            if ids is not None and self._num_nodes is None:
                num_nodes = max(num_nodes, len(ids[0]) - 1 if isinstance(ids, tuple) else len(ids))
        self._require_plausible_nodes(num_nodes)
        num_sources = self._options.num_sources if self._lists.rectangular else num_nodes
        ends = tasks.Ends(num_sources or 0, num_nodes, new_ids)
        with self._tidy():
            return self._write_lists(path, ends, external, report or _silent)

    def _write_lists(
        self,
        path: str,
        ends: tasks.Ends,
        external: dict[str, Any],
        report: Callable[[int, int], None],
    ) -> WrittenGraph:
        lists = self._lists
        has_second = lists.in_lists and lists.out_lists and not lists.undirected
        counts = (ends.num_destinations, ends.num_sources)  # of lists, and of their neighbors
        if self._direction == "out":
            counts = counts[::-1]
        kept = ray.put(ends)
        first_ends = self._ranges(kept, counts[0], is_owner=True, rows=lists.keep_source_rows)
        pieces = [
            self._start(
                tasks.cut_block,
                self._reading,
                block.ref,
                block.place,
                kept,
                numbers=block.numbers,
                range_ends=first_ends,
                returns=len(first_ends),
            )
            for block in self._blocks
        ]
        first = self._make_lists(pieces, first_ends, counts[1], is_second=False)
        second_ends = np.zeros(0, np.uint64)
        if has_second:
            second_ends = self._ranges(kept, counts[1], is_owner=False, rows=True)
        del pieces
        sizes = [self._get(size) for size, _ in first]
        turned = []
        if has_second and len(second_ends):
            begins = np.cumsum([0, *sizes]).tolist()
            starts = [0, *first_ends.tolist()]
            turned = [
                self._start(
                    tasks.turn_lists,
                    made,
                    start,
                    begin,
                    second_ends,
                    self._task_memory,
                    returns=len(second_ends),
                )
                for (_, made), start, begin in zip(first, starts, begins, strict=False)
            ]
        second = self._make_lists(turned, second_ends, counts[0], is_second=True)
        num_edges = sum(sizes)
        graph = _core.JoinedGraph(
            os.fsencode(path),
            num_nodes=ends.num_destinations,
            num_sources=ends.num_sources,
            num_edges=num_edges,
            num_rows=self._num_read,
            memory=self._memory,
            **{
                name: value
                for name, value in lists._asdict().items()
                if name not in ("dedup", "drop_self_loops")
            },
            **external,
        )
        try:
            written = _Written(graph, num_edges * (1 + has_second), report)
            self._append(written, first, first_ends)
            if has_second:
                graph.begin_second()
                self._append(written, second, second_ends)
            file_bytes = graph.finish()
        finally:
            graph.close()
        return WrittenGraph(ends.num_destinations, num_edges, file_bytes, 0, ends.num_sources)

    def _append(
        self, written: _Written, parts: list[tuple[Any, Any]], range_ends: NDArray[np.uint64]
    ) -> None:
        """Writes the lists of all ranges in their order."""
        first_node = 0
        for number, end in enumerate(range_ends.tolist()):
            written.append(first_node, self._get(parts[number][1]))
            parts[number] = (None, None)  # which Ray may free now
            first_node = end

    def _ranges(
        self,
        ends: Any,  # noqa: ANN401
        num_nodes: int,
        *,
        is_owner: bool,
        rows: bool,
    ) -> NDArray[np.uint64]:
        """Where the ranges of nodes end that one task makes the lists of."""
        lists = self._lists
        entry_bytes = _core.part_bytes_per_entry(
            rows=rows,
            weights=lists.weights,
            timestamps=lists.timestamps,
            wide_indices=lists.wide_indices or num_nodes > 2**31,
        )

        def count(window: Window) -> NDArray[np.int64]:
            found = [
                self._start(
                    tasks.count_cells,
                    self._reading,
                    block.ref,
                    block.place,
                    ends,
                    numbers=block.numbers,
                    window=window,
                )
                for block in self._blocks
            ]
            total = np.zeros(window.num_cells, np.int64)
            for ref in found:
                total += self._get(ref)
            return total

        limits = Limits(self._task_memory, entry_bytes, _num_cpus())
        return cut_nodes(num_nodes, limits, count, is_owner=is_owner)

    def _make_lists(
        self,
        cuts: Sequence[Any],
        range_ends: NDArray[np.uint64],
        num_neighbors: int,
        *,
        is_second: bool,
    ) -> list[tuple[Any, Any]]:
        """For each range references to the number of entries, and to the lists."""
        starts = [0, *range_ends.tolist()]
        return [
            self._start(
                tasks.make_lists,
                self._reading,
                (starts[number], end, num_neighbors),
                is_second,
                *(cut if len(range_ends) == 1 else cut[number] for cut in cuts),
                returns=2,
            )
            for number, end in enumerate(range_ends.tolist())
        ]

    def _ends(self, num_sources: int | None, num_destinations: int | None) -> tasks.Ends:
        return tasks.Ends(
            MOST_NODES if num_sources is None else num_sources,
            MOST_NODES if num_destinations is None else num_destinations,
        )

    def _require_plausible_nodes(self, num_nodes: int) -> None:
        """Raises as the core does for an id that would make a graph of nothing but nodes."""
        if self._num_nodes is None and not is_plausible(num_nodes, self._num_read):
            raise SourceError(
                f"node id {num_nodes - 1} would make a graph of {num_nodes} nodes for "
                f"{self._num_read} edge{'' if self._num_read == 1 else 's'}; pass num_nodes= if "
                "there are so many, or ids='map' to number only the ids that occur"
            )

    def _start(self, task: Any, *args: Any, returns: int = 1, **more: Any) -> Any:  # noqa: ANN401
        """Starts a task; what it gives is there when it is done."""
        options = {"num_cpus": 1, "memory": self._task_memory, "num_returns": max(1, returns)}
        return _remote(task).options(**options).remote(*args, **more)

    def _get(self, ref: Any) -> Any:  # noqa: ANN401
        """What a task has given.

        Raises:
            GraphmountError: What it has raised.
            SourceError: It, or its node, was lost too often.
        """
        with failures_of(self._table):
            try:
                return ray.get(ref)
            except ray.exceptions.RayTaskError as error:
                if isinstance(error.cause, GraphmountError):
                    raise error.cause from None
                raise

    @contextmanager
    def _tidy(self) -> Iterator[None]:
        """Lets go of all blocks when something is raised inside of it.

        Tasks that were started end by themselves, and what they give is dropped. They are not
        cancelled: where a task is done at that very moment, `ray.cancel` ends this whole process
        (Ray 2.60, "Tried to complete task that was not pending").
        """
        try:
            with interrupts_come_again():
                yield
        except BaseException:
            self._blocks.clear()
            raise


def _require_room(memory: int) -> None:
    """Raises if no node can run a task of so much memory: Ray would wait for one for ever."""
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    most = max((int(node.get("memory", 0)) for node in nodes if node.get("CPU", 0) >= 1), default=0)
    if memory > most:
        raise BudgetError(
            f"task_memory={format_bytes(memory)} is more than any node of the cluster has for "
            f"tasks, which is {format_bytes(most)}; pass a smaller task_memory="
        )


@functools.cache
def _remote(task: Callable[..., Any]) -> Any:  # noqa: ANN401
    """What starts a task: one for each, so that Ray is told of it once."""
    return ray.remote(task)


def _num_cpus() -> int:
    """How many tasks the cluster can run at once."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _silent(done: int, total: int) -> None:
    """Nobody asks how far it is."""
    del done, total
