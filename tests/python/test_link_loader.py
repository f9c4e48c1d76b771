"""Loaders of links: batches against a slow twin, negatives, order, resuming, ranks, refusals."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from link_twin import LinkTwin
from loader_data import NUM_NODES, check_batch, same
from sampling_twin import Lists, eligible

import graphmount as gm
from graphmount import errors


def edges_of(graph):
    """All edges, in the order of their ids: (2, edges)."""
    col = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    return np.stack([graph.indices.astype(np.int64), col])


def twin_of(graph, links, **options):
    return LinkTwin(links.T, map(tuple, edges_of(graph).T.tolist()), graph.num_nodes, **options)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A graph of 30 nodes with everything, one of which is the source of edges to all others."""
    path = tmp_path_factory.mktemp("links") / "small.gl"
    generator = np.random.default_rng(5)
    src, dst = generator.integers(0, 30, (2, 120))
    src = np.append(src, np.full(30, 7))
    dst = np.append(dst, np.arange(30))
    gm.compile_graph(
        (src, dst),
        path,
        weights=generator.random(150),
        timestamps=generator.integers(0, 50, 150),
        num_nodes=30,
    )
    return gm.Graph(path)


@pytest.mark.parametrize("negatives", [None, "binary", ("triplet", 3)], ids=str)
@pytest.mark.parametrize("memory", [0, "30KiB", "1GiB"])
def test_batches_have_links_and_rows(dataset, negatives, memory):
    links = edges_of(dataset.graph)[:, ::37]
    mode, amount = (negatives, 1) if negatives != ("triplet", 3) else negatives
    twin = twin_of(dataset.graph, links, mode=mode, amount=amount)
    loader = gm.LinkNeighborLoader(
        dataset,
        [4, 3],
        edge_label_index=links,
        neg_sampling=negatives,
        batch_size=100,
        shuffle=True,
        edge_features=["w"],
        memory=memory,
        seed=2,
    )
    met = []
    for _ in range(2):
        batches = list(loader)
        assert len(batches) == len(loader) == 11
        for batch in batches:
            assert isinstance(batch, gm.LinkBatch)
            assert batch.num_links == len(batch.input_ids)
            check_batch(batch, dataset)
            twin.check(batch)
        met.append(np.concatenate([batch.input_ids for batch in batches]))
    assert sorted(met[0]) == sorted(met[1]) == list(range(links.shape[1]))
    assert met[0].tolist() != met[1].tolist()


@given(st.data())
@settings(max_examples=60)
def test_any_options(small, data):
    num_links = data.draw(st.integers(0, 40))
    links = data.draw(
        st.lists(
            st.tuples(st.integers(0, 29), st.integers(0, 29)),
            min_size=num_links,
            max_size=num_links,
        )
    )
    mode = data.draw(st.sampled_from([None, "binary", "triplet"]))
    amount = data.draw(st.sampled_from([1, 2, 5] if mode == "triplet" else [0.3, 1, 1.5, 2]))
    has_labels = mode != "triplet" and num_links > 0 and data.draw(st.booleans())
    labels = (
        data.draw(st.lists(st.integers(0, 3), min_size=num_links, max_size=num_links))
        if has_labels
        else None
    )
    times = (
        data.draw(st.lists(st.integers(-1, 60), min_size=num_links, max_size=num_links))
        if data.draw(st.booleans())
        else None
    )
    disjoint = data.draw(st.booleans())
    columns = np.array(links, np.int64).reshape(-1, 2).T
    weighting = data.draw(st.sampled_from(["uniform", "degree"]))
    loader = gm.LinkNeighborLoader(
        small,
        data.draw(st.lists(st.sampled_from([-1, 0, 1, 4]), max_size=2)),
        edge_label_index=columns,
        edge_label=labels,
        edge_label_time=times,
        neg_sampling=mode and gm.LinkNegatives(mode, amount, weighting=weighting),
        batch_size=data.draw(st.sampled_from([1, 7, 100])),
        shuffle=data.draw(st.booleans()),
        drop_last=data.draw(st.booleans()),
        disjoint=disjoint,
        subgraph_type=data.draw(st.sampled_from(["directional", "bidirectional", "induced"])),
        window=data.draw(st.integers(1, 63)),
        seed=data.draw(st.integers(0, 5)),
    )
    twin = twin_of(
        small, columns, mode=mode, amount=amount, labels=labels, times=times, trees=disjoint
    )
    batches = list(loader)
    assert len(batches) == len(loader)
    for batch in batches:
        twin.check(batch)


def test_batches_are_full_neighborhoods(small):
    links = edges_of(small)[:, ::9]
    lists = Lists(small, "in")
    for batch in gm.LinkNeighborLoader(small, [-1], edge_label_index=links, batch_size=4, seed=1):
        expected = [
            (int(node), entry[0], entry[1])
            for node in batch.nodes[: batch.batch_size]
            for entry in lists.of[node]
        ]
        columns = batch.nodes[batch.col], batch.nodes[batch.row], batch.edge_ids
        assert list(zip(*(column.tolist() for column in columns), strict=True)) == expected


@pytest.mark.parametrize("strategy", ["uniform", "last"])
@pytest.mark.parametrize("mode", [None, "binary", "triplet"])
def test_links_in_time(small, strategy, mode):
    links = edges_of(small)
    times = small.neighbor_lists().timestamps - 1
    lists = Lists(small, "in")
    stamps = small.neighbor_lists().timestamps
    loader = gm.LinkNeighborLoader(
        small,
        [3],
        edge_label_index=links,
        edge_label_time=times,
        neg_sampling=mode,
        temporal_strategy=strategy,
        batch_size=8,
    )
    twin = twin_of(small, links, mode=mode, times=times.tolist())
    for batch in loader:
        twin.check(batch)
        time_of_node = times[batch.input_ids][batch.batch]
        assert (stamps[batch.edge_ids] <= time_of_node[batch.col]).all()
        for seed in range(batch.batch_size):
            allowed = eligible(
                lists.of[int(batch.nodes[seed])], weighted=False, time=time_of_node[seed]
            )
            taken = batch.edge_ids[batch.col == seed].tolist()
            assert len(taken) == min(3, len(allowed))
            if strategy == "last":
                assert sorted(taken) == sorted(entry[1] for entry in allowed[-3:])


@pytest.mark.parametrize("mode", ["binary", "triplet"])
def test_negatives_depend_on_seed_epoch_and_number_only(dataset, mode):
    links = edges_of(dataset.graph)[:, ::50]

    def run(**options):
        loader = gm.LinkNeighborLoader(
            dataset,
            [3, 2],
            edge_label_index=links,
            neg_sampling=mode,
            batch_size=64,
            shuffle=True,
            **({"seed": 4} | options),
        )
        return [list(loader), list(loader)]

    def ends(batch):
        if mode == "binary":
            return batch.nodes[batch.edge_label_index]
        return batch.nodes[batch.dst_neg_index]

    expected = run()
    before = gm.num_threads()
    try:
        for threads, options in ((1, {"window": 1, "memory": 0}), (3, {"window": 63})):
            gm.set_num_threads(threads)
            for epoch, found in zip(expected, run(**options), strict=True):
                assert all(map(same, found, epoch))
                for one, other in zip(found, epoch, strict=True):
                    np.testing.assert_array_equal(ends(one), ends(other))
    finally:
        gm.set_num_threads(before)
    assert not np.array_equal(ends(expected[0][0]), ends(expected[1][0]))
    assert not np.array_equal(ends(expected[0][0]), ends(run(seed=5)[0][0]))


def test_resuming_in_the_middle(dataset):
    links = edges_of(dataset.graph)[:, ::50]

    def make(seed):
        return gm.LinkNeighborLoader(
            dataset,
            [3],
            edge_label_index=links,
            neg_sampling="binary",
            batch_size=100,
            shuffle=True,
            seed=seed,
        )

    loader = make(7)
    expected = [list(loader) for _ in range(2)]
    loader = make(7)
    for batch in loader:
        if batch.number == 2:
            break
    state = loader.state_dict()
    other = make(8)
    other.load_state_dict(state)
    found = list(other)
    assert [batch.number for batch in found] == list(range(3, 8))
    assert all(map(same, found, expected[0][3:]))
    assert all(map(same, other, expected[1]))


@pytest.mark.parametrize("drop_last", [False, True])
def test_ranks_share_the_links_evenly(small, drop_last):
    links = edges_of(small)[:, :101]
    loaders = [
        gm.LinkNeighborLoader(
            small,
            [1],
            edge_label_index=links,
            neg_sampling="triplet",
            batch_size=7,
            shuffle=True,
            drop_last=drop_last,
            rank=rank,
            world_size=4,
            seed=8,
        )
        for rank in range(4)
    ]
    assert len({len(loader) for loader in loaders}) == 1
    met = [np.concatenate([batch.input_ids for batch in loader]) for loader in loaders]
    together = np.concatenate(met)
    if drop_last:
        assert len(np.unique(together)) == len(together)
    else:
        assert set(together) == set(range(101))


def test_all_edges_are_the_links_by_default(small, tmp_path):
    (batch,) = gm.LinkNeighborLoader(small, [], batch_size=1000)
    np.testing.assert_array_equal(batch.nodes[batch.edge_label_index], edges_of(small))
    gm.compile_graph(([0, 0, 2], [1, 2, 1]), tmp_path / "out.gl", neighbors="out")
    graph = gm.Graph(tmp_path / "out.gl")
    (batch,) = gm.LinkNeighborLoader(graph, [-1], direction="out", batch_size=10)
    assert batch.nodes[batch.edge_label_index].tolist() == [[0, 0, 2], [1, 2, 1]]


def test_labels(small):
    links = edges_of(small)[:, :10]
    options = {"edge_label_index": links, "batch_size": 10}

    def label(**more):
        (batch,) = gm.LinkNeighborLoader(small, [1], **options, **more)
        return batch.edge_label

    assert label() is None
    assert label(edge_label=np.arange(10)).tolist() == list(range(10))
    zero = label(edge_label=np.arange(10, dtype=np.int8), neg_sampling="binary")
    assert zero.dtype == np.int8
    assert zero.tolist() == [*range(1, 11), *[0] * 10]
    one = label(edge_label=np.arange(1, 11), neg_sampling="binary")
    assert one.tolist() == [*range(1, 11), *[0] * 10]
    masks = label(edge_label=np.arange(10) > 4, neg_sampling="binary")
    assert masks.tolist() == [1] * 5 + [2] * 5 + [0] * 10
    plain = label(neg_sampling_ratio=0.5)
    assert plain.dtype == np.float32
    assert plain.tolist() == [1] * 10 + [0] * 5
    several = label(edge_label=np.ones((10, 3), np.float32), neg_sampling_ratio=1)
    assert several.shape == (20, 3)
    assert several.sum() == 30


def test_every_way_to_ask_for_negatives(small):
    ours = gm.LinkNegatives("triplet", 2)
    theirs = SimpleNamespace(mode=SimpleNamespace(value="triplet"), amount=2)
    ways = [ours, theirs, ("triplet", 2), ["triplet", 2.0], {"mode": "triplet", "amount": 2}]
    expected = None
    for way in ways:
        (batch,) = gm.LinkNeighborLoader(small, [1], neg_sampling=way, batch_size=1000, seed=1)
        negatives = batch.nodes[batch.dst_neg_index]
        assert negatives.shape == (small.num_edges, 2)
        expected = negatives if expected is None else expected
        np.testing.assert_array_equal(negatives, expected)


def test_where_every_node_is_reached_any_may_come(small):
    links = np.array([[7] * 200, [0] * 200])
    (batch,) = gm.LinkNeighborLoader(
        small, [], edge_label_index=links, neg_sampling="triplet", batch_size=200, seed=1
    )
    assert len(np.unique(batch.nodes[batch.dst_neg_index])) > 20


def test_negatives_by_weights_of_nodes(small):
    weights = np.arange(30.0) ** 2
    weights[10:20] = 0
    links = np.array([[3] * 3000, [4] * 3000])
    edges = set(map(tuple, edges_of(small).T.tolist()))
    for strict in (False, True):
        may_stay = [
            node for node in range(30) if not strict or (node != 3 and (3, node) not in edges)
        ]
        expected = np.zeros(30)
        expected[may_stay] = weights[may_stay] / weights[may_stay].sum()
        negatives = gm.LinkNegatives("triplet", 2, strict=strict, dst_weight=weights)
        (batch,) = gm.LinkNeighborLoader(
            small, [], edge_label_index=links, neg_sampling=negatives, batch_size=3000, seed=1
        )
        drawn = np.bincount(batch.nodes[batch.dst_neg_index].ravel(), minlength=30) / 6000
        assert np.abs(drawn - expected).max() < 0.03
        assert not drawn[expected == 0].any()
    for ends in ({"src_weight": weights}, {"dst_weight": weights}):
        negatives = gm.LinkNegatives("binary", **ends)
        (batch,) = gm.LinkNeighborLoader(
            small, [], edge_label_index=links, neg_sampling=negatives, batch_size=3000, seed=1
        )
        sources, destinations = batch.nodes[batch.edge_label_index][:, 3000:]
        assert not small.has_edge(sources, destinations).any()
        by_weight, evenly = sources, destinations
        if "dst_weight" in ends:
            by_weight, evenly = destinations, sources
        assert set(by_weight) <= set(np.flatnonzero(weights))
        assert len(np.unique(evenly)) >= 28


def test_weights_where_every_node_is_reached(small):
    links = np.array([[7] * 50, [0] * 50])
    weights = np.zeros(30)
    weights[[4, 9]] = 1
    negatives = gm.LinkNegatives("triplet", dst_weight=weights)
    (batch,) = gm.LinkNeighborLoader(
        small, [], edge_label_index=links, neg_sampling=negatives, batch_size=50, seed=1
    )
    assert set(batch.nodes[batch.dst_neg_index].ravel()) == {4, 9}


def test_negatives_that_may_be_edges(tmp_path):
    gm.compile_graph(([0, 0, 1], [1, 2, 2]), tmp_path / "in.gl", neighbors="in")
    graph = gm.Graph(tmp_path / "in.gl")
    with pytest.raises(errors.MissingDataError, match=r"strict=False") as caught:
        gm.LinkNeighborLoader(graph, [1], neg_sampling="triplet")
    assert caught.value.path == graph.path
    assert len(list(gm.LinkNeighborLoader(graph, [1], neg_sampling="binary"))) == 3
    loose = gm.LinkNegatives("triplet", 50, strict=False)
    for batch in gm.LinkNeighborLoader(graph, [1], neg_sampling=loose):
        assert set(batch.nodes[batch.dst_neg_index[0]]) == {0, 1, 2}


def test_trees_know_their_links(small):
    links = edges_of(small)[:, :9]
    for amount in (1, 1.5, 2):
        loader = gm.LinkNeighborLoader(
            small,
            [2, 2],
            edge_label_index=links,
            neg_sampling=("binary", amount),
            disjoint=True,
            batch_size=4,
        )
        twin = twin_of(small, links, mode="binary", amount=amount, trees=True)
        for batch in loader:
            twin.check(batch)
            assert batch.batch.max() < batch.num_links


def test_bidirectional_edges_have_their_rows(dataset):
    loader = gm.LinkNeighborLoader(
        dataset,
        [4],
        edge_label_index=edges_of(dataset.graph)[:, :200],
        subgraph_type="bidirectional",
        edge_features=["w"],
        batch_size=100,
    )
    for batch in loader:
        check_batch(batch, dataset)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"edge_label_index": [[0], [30]]}, errors.IdError, "edge_label_index.1, 0. is 30"),
        ({"edge_label_index": [[-1], [3]]}, errors.IdError, "edge_label_index.0, 0. is -1"),
        ({"edge_label_index": [[0.5], [3]]}, TypeError, "sources. must be integers"),
        ({"edge_label_index": [[0, 1], [3]]}, ValueError, "2 sources for 1 destinations"),
        ({"edge_label_index": np.zeros((3, 2), int)}, ValueError, "shape .3, 2."),
        ({"edge_label_index": np.zeros(3, int)}, ValueError, "shape .3,."),
        ({"edge_label": [1, 2]}, ValueError, r"shape \(2,\) for 150 links"),
        ({"edge_label_time": [1, 2]}, ValueError, "2 times for 150 links"),
        ({"neg_sampling": "other"}, ValueError, "mode='other'"),
        ({"neg_sampling": 3}, TypeError, "neg_sampling must be"),
        ({"neg_sampling": ("binary", 0)}, ValueError, "amount must be"),
        ({"neg_sampling": ("binary", float("inf"))}, ValueError, "amount must be"),
        ({"neg_sampling": ("triplet", 1.5)}, ValueError, "whole for triplets"),
        ({"neg_sampling": "binary", "neg_sampling_ratio": 1}, ValueError, "give one"),
        (
            {"neg_sampling": "triplet", "edge_label": np.zeros(150)},
            ValueError,
            "do not go together",
        ),
        (
            {"neg_sampling": SimpleNamespace(mode="binary", amount=1, src_weight=[1, 2])},
            ValueError,
            "src_weight has 2 weights for 30 nodes",
        ),
        (
            {"neg_sampling": {"mode": "triplet", "dst_weight": [-1.0] * 30}},
            ValueError,
            "the weight of node 0 is -1",
        ),
        (
            {"neg_sampling": {"mode": "triplet", "dst_weight": np.zeros(30)}},
            ValueError,
            "no node to draw",
        ),
        (
            {"neg_sampling": {"mode": "triplet", "dst_weight": np.ones((30, 1))}},
            ValueError,
            "one weight for each node",
        ),
        (
            {"neg_sampling": {"mode": "binary", "weighting": "degree", "src_weight": [1]}},
            ValueError,
            "two ways to draw",
        ),
        ({"batch_size": 0}, ValueError, "batch_size must be at least 1"),
        ({"num_neighbors": [-2]}, ValueError, "num_neighbors.0."),
    ],
    ids=str,
)
def test_refusals(small, options, error, message):
    with pytest.raises(error, match=message):
        gm.LinkNeighborLoader(small, **({"num_neighbors": [2]} | options))


def test_tensors(loader_folder):
    torch = pytest.importorskip("torch")
    import graphmount.torch

    dataset = gm.Dataset(loader_folder / "hot")
    links = torch.from_numpy(edges_of(dataset.graph)[:, ::100])
    labels = torch.arange(links.shape[1])
    for options in (
        {"edge_label": labels, "neg_sampling": "binary"},
        {"neg_sampling": ("triplet", 1)},
        {"edge_label_time": labels % 100},
    ):
        options |= {"edge_label_index": links, "batch_size": 64, "seed": 3}
        loader = graphmount.torch.LinkNeighborLoader(dataset, [3, 2], **options)
        arrays_loader = gm.LinkNeighborLoader(dataset, [3, 2], **options)
        assert len(loader) == len(arrays_loader)
        for tensors, batch in zip(loader, arrays_loader, strict=True):
            assert isinstance(tensors, graphmount.torch.LinkTensorBatch)
            assert tensors.num_links == batch.num_links
            assert np.array_equal(tensors.features["x"].numpy(), batch.features["x"])
            for name, found in vars(tensors).items():
                expected = getattr(batch, name, None)
                if isinstance(found, torch.Tensor) and name != "edge_index":
                    assert np.array_equal(found.numpy(), expected), name
                elif found is None:
                    assert expected is None, name
            moved = tensors.to("meta")
            assert moved.nodes.device.type == "meta"


def test_node_ids_out_of_a_dataset(loader_folder):
    dataset = gm.Dataset(loader_folder / "given")
    loader = gm.LinkNeighborLoader(dataset, [2], edge_label_index=[[NUM_NODES - 1], [0]])
    (batch,) = loader
    assert "LinkBatch 0 of epoch 0: 2 seeds" in repr(batch)
    assert "LinkNeighborLoader of" in repr(loader)
    assert set(batch.external_ids[:2]) == {0, NUM_NODES - 1}
