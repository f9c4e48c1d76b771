"""The feeds of a loader: for each of its tables, the part of the core that caches and reads rows.

Together they take the memory that the loader was given, each a part by what its bytes save
(`table_shares.py`).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from graphmount import _core
from graphmount._loading.memory_budget import require_headroom
from graphmount._loading.ranks.shared_rows import Offer
from graphmount._loading.rows.hot_rows import hottest_nodes
from graphmount._loading.rows.table_shares import SHARE_TRIALS, TableUse, divide
from graphmount._support.conversion import dtype_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.typing import NDArray

    from graphmount._loading.batches.aggregation import AggregateLast
    from graphmount._loading.data.loader_data import AnyData, IdSpace, TableKey
    from graphmount._loading.ranks.shared_rows import GivenRows, Sharing
    from graphmount._mount.features import FeatureStore, Reader
    from graphmount._support.direction import Direction

#: How much of the memory is for rows that come and go, at the most: see docs/design/loading.md.
SLOT_SHARE = 0.4
#: Threads that read for all tables of a loader, of which each has two batches under way at most.
_READ_THREADS, _THREADS_PER_TABLE = 4, 2
#: What the name of a hot row takes, here and in the core.
_NAME_BYTES = 16
#: The rank of a row that no other trial wants: behind all rows of any table.
_NEVER = 1 << 40


@dataclass(frozen=True)
class RowFeed:
    """The feed of one table, and what its rows belong to."""

    space: IdSpace
    name: str
    title: str
    core: _core.TableFeed
    aggregates: bool
    offer: Offer | None = None  # of hot rows, to other processes; it ends with the feed


def as_dtypes(dtype: object, data: AnyData) -> dict[TableKey, str]:
    """The dtype of each table's rows in batches: as wanted, or as stored.

    Raises:
        ValueError: There is no such table or dtype.
    """
    stored = {key: str(store.dtype) for key, store in data.by_key.items()}
    if dtype is None:
        return stored
    if not isinstance(dtype, Mapping):
        wanted = dtype_name(dtype)
        return stored | {key: wanted for key in stored if data.is_of_nodes(key[0])}
    for name, given in dtype.items():
        found = [key for key in stored if name in (key[1], key)]
        if not found:
            there = sorted({key[1] for key in stored})
            raise ValueError(f"dtype: there is no table {name!r}; there are {there}")
        stored |= dict.fromkeys(found, dtype_name(given))
    return stored


def make_feeds(
    data: AnyData,
    sample: Callable[[int], Any],
    *,
    direction: Direction,
    memory: int,
    window: int,
    dtypes: Mapping[TableKey, str],
    reader: Reader,
    aggregated: Mapping[str, AggregateLast],
    sharing: Sharing | None,
) -> list[RowFeed]:
    """Fills the caches.

    Args:
        data: The tables.
        sample: A sample like those of the batches, by a number.
        direction: That is sampled.
        memory: For all feeds together.
        window: Batches that are sampled ahead.
        dtypes: What the rows of each table are converted to.
        reader: How rows come from the disk.
        aggregated: What batches get for the neighbors of a node from some tables, in place of their
            rows.
        sharing: Who has the hot rows together; None for nobody.
    """
    tables = data.by_key
    if not tables:
        return []
    threads = _core.ReadThreads(min(_READ_THREADS, _THREADS_PER_TABLE * len(tables)))
    trial = sample(0)
    shares = _shares(data, trial, sample, memory)

    def make(
        space: IdSpace,
        name: str,
        store: FeatureStore,
        share: int,
        *,
        sharers: int = 1,
        given: GivenRows | None = None,
    ) -> _core.TableFeed:
        row_bytes = _row_bytes(store)
        # The ids of the hot rows are in memory as well, until the rows are read.
        most = share // (row_bytes + _NAME_BYTES)
        hottest: Any = np.empty(0, np.int64)
        is_of_nodes = data.is_of_nodes(space)
        fits = share * sharers // row_bytes >= len(store)
        if given is None and is_of_nodes and not data.is_hot_first and not fits and most > 0:
            hottest = _hottest(data, space, direction, most * sharers, sample)
        return _core.TableFeed(
            store._open(),  # noqa: SLF001
            space="nodes" if is_of_nodes else "edges",
            number=data.number_of(space),
            memory=share,
            slot_share=SLOT_SHARE,
            window=window,
            trial=data.ids_of(trial, space),
            hottest=hottest,
            dtype=dtypes[space, name],
            reader=reader,
            aggregation=aggregated.get(name, "none"),
            threads=threads,
            sharers=sharers,
            given=given,
        )

    feeds = []
    for ((space, name), store), share in zip(tables.items(), shares, strict=True):
        feed, offer = _with_shared_rows(
            sharing, store, share, functools.partial(make, space, name, store, share)
        )
        title = data.shown_table((space, name))
        feeds.append(RowFeed(space, name, title, feed, name in aggregated, offer))
    return feeds


def _with_shared_rows(
    sharing: Sharing | None,
    store: FeatureStore,
    share: int,
    make: Callable[..., _core.TableFeed],
) -> tuple[_core.TableFeed, Offer | None]:
    """The feed of a table, with the hot rows of all processes here, if these can be had."""
    met = None if sharing is None else sharing.meet(store)
    if sharing is None:
        return make(), None
    if met is None:
        require_headroom(share, [store])
        return make(), None
    kept: Offer | None = None
    try:
        if isinstance(met, Offer):  # the others only map what this one places in memory
            require_headroom(share, [store], sharing.sharers)
        try:
            if isinstance(met, Offer):
                feed = make(sharers=sharing.sharers)
                offered = feed.shared_rows()
                if offered is not None:
                    met.serve(offered)
                    kept = met
                return feed, kept
            # Another loader may have been given more memory than this one.
            if met.rows[1] // sharing.sharers <= share:
                return make(sharers=sharing.sharers, given=met.rows), None
        except (OSError, ValueError):  # the system has no such memory, or it is not what it seems
            met.close()  # before rows are read here: nobody has to wait for that
        return make(), None
    finally:
        if met is not kept:
            met.close()


def _hottest(
    data: AnyData, space: IdSpace, direction: Direction, most: int, sample: Callable[[int], Any]
) -> NDArray[np.int64]:
    """Nodes of a type to keep in memory, the hottest first."""

    def nodes(number: int) -> NDArray[np.int64]:
        return data.ids_of(sample(number), space)

    return hottest_nodes(data.only_graph, direction, most, nodes)


def _row_bytes(store: FeatureStore) -> int:
    return max(1, store.file_bytes // max(1, len(store)))


def _matrix_bytes(store: FeatureStore) -> int:
    return sum(section.num_bytes for section in store.sections if section.name == "matrix")


def _use_of(store: FeatureStore, wanted: list[NDArray[np.int64]]) -> TableUse:
    size = _matrix_bytes(store)
    return TableUse(num_bytes=size, row_bytes=size // max(1, len(store)), wanted=wanted)


def _shares(
    data: AnyData,
    trial: Any,  # noqa: ANN401
    sample: Callable[[int], Any],
    memory: int,
) -> list[int]:
    """The memory of each table."""
    tables = data.by_key
    needs_trials = len(tables) > 1 and sum(map(_matrix_bytes, tables.values())) > memory
    trials = [trial, *map(sample, range(1, SHARE_TRIALS))] if needs_trials else []
    wanted = {
        space: _ranks([data.ids_of(one, space) for one in trials], is_hot_first=is_hot_first)
        for space, is_hot_first in _by_rank(data, {space for space, _ in tables}).items()
    }
    uses = [_use_of(store, wanted[space]) for (space, _), store in tables.items()]
    return divide(memory, uses)


def _by_rank(data: AnyData, spaces: Collection[IdSpace]) -> dict[IdSpace, bool]:
    """Whether the hottest rows of these spaces are the first ones of the file.

    Of edges, the first ones are kept, whatever they are.
    """
    return {space: data.is_hot_first or not data.is_of_nodes(space) for space in spaces}


def _ranks(trials: list[NDArray[np.int64]], *, is_hot_first: bool) -> list[NDArray[np.int64]]:
    """For each row that trials want, how many rows are hotter."""
    if is_hot_first or not trials:
        return trials
    # The hottest rows are those that come most often; each trial is judged by the others.
    ranks = []
    for number, ids in enumerate(trials):
        others = np.concatenate([*trials[:number], *trials[number + 1 :]])
        nodes, counts = np.unique(others, return_counts=True)
        hottest = np.argsort(-counts, kind="stable")
        rank_of = np.empty(len(nodes), np.int64)
        rank_of[hottest] = np.arange(len(nodes))
        places = np.minimum(np.searchsorted(nodes, ids), max(len(nodes) - 1, 0))
        is_known = nodes[places] == ids if len(nodes) else np.zeros(len(ids), bool)
        found = np.full(len(ids), _NEVER, np.int64)
        found[is_known] = rank_of[places[is_known]]
        ranks.append(found)
    return ranks
