"""Negatives where nodes have times: none is later than its link, whatever it is drawn by.

The twin looks at every negative by itself: which link it belongs to, and which nodes it may be.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from chi_squared import p_value
from hypothesis import given, settings
from hypothesis import strategies as st
from typed_loader_data import all_same

import graphmount as gm

LIKES = ("user", "likes", "item")
KNOWS = ("user", "knows", "user")
COUNTS = {"user": 25, "item": 40}
TIMES = {
    name: np.random.default_rng(count).integers(0, 10, count) for name, count in COUNTS.items()
}


@pytest.fixture(scope="module")
def ds(tmp_path_factory):
    return make(tmp_path_factory.mktemp("times") / "d", TIMES)


def make(path, times):
    """Two types; those in `times` have times."""
    rng = np.random.default_rng(1)
    gm.compile_dataset(
        path,
        nodes={
            name: gm.Nodes(num_nodes=count, timestamps=times.get(name))
            for name, count in COUNTS.items()
        },
        edges={
            relation: rng.integers(0, [[COUNTS[relation[0]]], [COUNTS[relation[2]]]], (2, 150))
            for relation in (LIKES, KNOWS)
        },
        progress=False,
    )
    return gm.Dataset(path)


def links_of(count, relation, seed, least=2):
    """Links as ids of the source, and a time for each at which there are nodes."""
    rng = np.random.default_rng(seed)
    links = rng.integers(0, [[COUNTS[relation[0]]], [COUNTS[relation[2]]]], (2, count))
    return links, rng.integers(least, 11, count)


def make_loader(ds, relation, links, times, **options):
    options = {"batch_size": 16, "seed": 3, "ids": "external", **options}
    return gm.LinkNeighborLoader(
        ds, [2], edge_label_index=(relation, links), edge_label_time=times, **options
    )


def negatives_of(batch, relation):
    """Of each negative: source, destination, and the time of its link, as internal ids."""
    sources, destinations = (np.asarray(batch.nodes[relation[end]]) for end in (0, 2))
    count = batch.num_links
    if batch.edge_label_index is None:
        num = batch.dst_neg_index.shape[1]
        of_links = sources[batch.src_index], batch.edge_label_time
        return (
            np.repeat(of_links[0], num),
            destinations[batch.dst_neg_index.reshape(-1)],
            np.repeat(of_links[1], num),
        )
    row, col = batch.edge_label_index[:, count:]
    times = batch.edge_label_time[:count][np.arange(len(row)) % count]
    np.testing.assert_array_equal(times, batch.edge_label_time[count:])
    return sources[row], destinations[col], times


def times_by_node(ds, name):
    """In the order of the dataset; None if the type has none."""
    store = ds.nodes[name].timestamps
    return None if store is None else np.asarray(store[:])


def edges_of(ds, relation):
    lists = ds.edges[relation].graph.neighbor_lists()
    destinations = np.repeat(np.arange(len(lists.indptr) - 1), np.diff(lists.indptr))
    return set(zip(lists.indices.tolist(), destinations.tolist(), strict=True))


def is_early(times, node, time):
    return times is None or times[node] <= time


def check(ds, batch, relation, *, is_strict):
    """Every negative against the twin."""
    edges = edges_of(ds, relation)
    own = [times_by_node(ds, relation[end]) for end in (0, 2)]
    is_triplet = batch.edge_label_index is None
    for source, destination, time in zip(*negatives_of(batch, relation), strict=True):
        assert is_triplet or is_early(own[0], source, time)
        assert is_early(own[1], destination, time)
        if not is_strict:
            continue
        early = [node for node in range(COUNTS[relation[2]]) if is_early(own[1], node, time)]
        may_stay = [
            node
            for node in early
            if (source, node) not in edges and (relation[0] != relation[2] or node != source)
        ]
        # With a quarter of the draws, 64 of them are enough but for one in 10^8.
        if 4 * len(may_stay) >= len(early):
            assert destination in may_stay


WAYS = {
    "evenly": {},
    "strictly": {"strict": True},
    "by degree": {"weighting": "degree"},
    "strictly by degree": {"weighting": "degree", "strict": True},
    "by weight": {"dst_weight": True},
    "strictly by both weights": {"src_weight": True, "dst_weight": True, "strict": True},
}


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 999),
    relation=st.sampled_from([LIKES, KNOWS]),
    mode=st.sampled_from(["binary", "triplet"]),
    amount=st.sampled_from([1, 2.5, 3]),
    way=st.sampled_from(list(WAYS)),
)
def test_none_is_later_than_its_link(ds, *, seed, relation, mode, amount, way):
    options = {"strict": False, **WAYS[way]}
    for name, end in (("src_weight", 0), ("dst_weight", 2)):
        if name in options:  # late nodes weigh most: draws by weight alone would be late
            options[name] = TIMES[relation[end]] ** 2.0 + 0.1
    negatives = gm.LinkNegatives(mode, int(amount) if mode == "triplet" else amount, **options)
    links, times = links_of(40, relation, seed)
    for batch in make_loader(ds, relation, links, times, neg_sampling=negatives, seed=seed):
        # By degree or weight, nodes that may stay may have small weights.
        check(ds, batch, relation, is_strict=way == "strictly")


def test_they_are_drawn_evenly_among_the_early_ones(ds):
    links, _ = links_of(400, LIKES, 1)
    times = np.full(400, 4)
    negatives = gm.LinkNegatives("binary", 20, strict=False)
    found = [
        negatives_of(batch, LIKES)
        for batch in make_loader(ds, LIKES, links, times, neg_sampling=negatives, batch_size=100)
    ]
    for end, name in ((0, "user"), (1, "item")):
        counts = np.bincount(np.concatenate([one[end] for one in found]), minlength=COUNTS[name])
        assert p_value(counts, times_by_node(ds, name) <= 4) > 0.001


@pytest.mark.parametrize("mode", ["binary", "triplet"])
@pytest.mark.parametrize("way", list(WAYS))
def test_threads_memory_and_copies_change_nothing(ds, mode, way):
    options = {"strict": False, **WAYS[way]}
    for name, end in (("src_weight", "user"), ("dst_weight", "item")):
        if name in options:
            options[name] = np.arange(1.0, COUNTS[end] + 1)
    links, times = links_of(60, LIKES, 5)

    def loader(**more):
        negatives = gm.LinkNegatives(mode, 2, **options)
        return make_loader(ds, LIKES, links, times, neg_sampling=negatives, shuffle=True, **more)

    expected = list(loader())
    before = gm.num_threads()
    try:
        for threads in (1, 2, 7):
            gm.set_num_threads(threads)
            assert all_same(list(loader(window=threads, memory=0)), expected)
    finally:
        gm.set_num_threads(before)
    copied = pickle.loads(pickle.dumps(loader()))  # noqa: S301
    assert all_same(list(copied), expected)


def test_types_without_times_have_nodes_of_any_time(tmp_path):
    ds = make(tmp_path / "d", {"user": TIMES["user"]})
    links, times = links_of(40, LIKES, 2)
    seen = set()
    for batch in make_loader(ds, LIKES, links, times, neg_sampling=("binary", 5)):
        check(ds, batch, LIKES, is_strict=True)
        seen |= set(negatives_of(batch, LIKES)[1].tolist())
    assert len(seen) == COUNTS["item"]


@pytest.mark.parametrize("mode", ["binary", "triplet"])
def test_links_that_are_earlier_than_all_nodes_are_refused(ds, mode):
    links, times = links_of(40, LIKES, 2)
    times[7] = -3
    with pytest.raises(ValueError, match=r"a link has the time -3, and all nodes .* are later"):
        make_loader(ds, LIKES, links, times, neg_sampling=mode)
    assert len(list(make_loader(ds, LIKES, links, times))) == 3  # without negatives they are good


def test_with_times_of_edges_any_node_may_be_a_negative(tmp_path):
    rng = np.random.default_rng(1)
    gm.compile_dataset(
        tmp_path / "d",
        nodes={name: gm.Nodes(num_nodes=n, timestamps=TIMES[name]) for name, n in COUNTS.items()},
        edges={
            LIKES: gm.EdgeTable(
                source=rng.integers(0, [[25], [40]], (2, 99)), timestamps=np.arange(99)
            )
        },
        progress=False,
    )
    ds = gm.Dataset(tmp_path / "d")
    links, _ = links_of(40, LIKES, 2)
    loader = make_loader(
        ds, LIKES, links, np.zeros(40, np.int64), neg_sampling=("binary", 9), time_of="edges"
    )
    seen = {node for batch in loader for node in negatives_of(batch, LIKES)[1].tolist()}
    assert len(seen) == COUNTS["item"]
