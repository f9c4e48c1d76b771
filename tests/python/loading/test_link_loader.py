"""Loaders of links: batches against a slow twin, in time, resumed, for ranks, as tensors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from link_twin import edges_of, make_link_graph, twin_of
from loader_data import check_batch, same
from sampling_twin import Lists, eligible

import graphmount as gm


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return make_link_graph(tmp_path_factory.mktemp("links"))


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
        ids="internal",
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


def test_resuming_in_the_middle(dataset):
    links = edges_of(dataset.graph)[:, ::50]

    def make(seed):
        return gm.LinkNeighborLoader(
            dataset,
            [3],
            edge_label_index=links,
            ids="internal",
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
        ids="internal",
        subgraph_type="bidirectional",
        edge_features=["w"],
        batch_size=100,
    )
    for batch in loader:
        check_batch(batch, dataset)


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
        options |= {"edge_label_index": links, "ids": "internal", "batch_size": 64, "seed": 3}
        loader = graphmount.torch.LinkNeighborLoader(dataset, [3, 2], **options)
        arrays_loader = gm.LinkNeighborLoader(dataset, [3, 2], **options)
        assert len(loader) == len(arrays_loader)
        for tensors, batch in zip(loader, arrays_loader, strict=True):
            assert isinstance(tensors, graphmount.torch.LinkTensorBatch)
            assert tensors.num_links == batch.num_links
            assert np.array_equal(tensors.features["x"].numpy(), batch.features["x"])
            for name, found in vars(tensors).items():
                expected = getattr(batch, name, None)
                if isinstance(found, torch.Tensor) and name not in {"edge_index", "turned"}:
                    assert np.array_equal(found.numpy(), expected), name
                elif found is None:
                    assert expected is None, name
            moved = tensors.to("meta")
            assert moved.nodes.device.type == "meta"
