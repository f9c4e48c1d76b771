"""A loader inside torch's `DataLoader`: the same batches, once each, for any number of workers."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import graphmount as gm

torch = pytest.importorskip("torch", reason="torch is not installed")
from torch.utils.data import DataLoader  # noqa: E402

import graphmount.torch  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning"),
]

WORKERS = [0, 1, 2, 3]


def make_loader(folder, **options):
    options = {"input_nodes": "train", "batch_size": 128, "seed": 5, "memory": "1MiB"} | options
    return gm.torch.NeighborLoader(gm.Dataset(folder / "hot"), [4, 3], shuffle=True, **options)


def facts(batch):
    """What a batch is, so that batches can be compared."""
    return (
        batch.epoch,
        batch.number,
        batch.nodes.tolist(),
        batch.edge_index.tolist(),
        batch.edge_ids.tolist(),
        batch.input_ids.tolist(),
        batch.labels.tolist(),
        batch.features["x"].numpy().tobytes(),
    )


def by_number(batches):
    return sorted(map(facts, batches))


def epochs_of(folder, count, **options):
    """The slow twin: the batches of the loader itself."""
    loader = make_loader(folder, **options)
    return [by_number(loader) for _ in range(count)]


@pytest.mark.parametrize("num_workers", WORKERS)
def test_each_epoch_has_the_batches_of_the_loader(loader_folder, num_workers):
    dataset = gm.torch.BatchDataset(make_loader(loader_folder))
    batches = DataLoader(dataset, batch_size=None, num_workers=num_workers)
    assert len(batches) == len(dataset) == 8
    assert [by_number(batches) for _ in range(3)] == epochs_of(loader_folder, 3)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_that_stay(loader_folder, method):
    dataset = gm.torch.BatchDataset(make_loader(loader_folder))
    batches = DataLoader(
        dataset,
        batch_size=None,
        num_workers=2,
        persistent_workers=True,
        multiprocessing_context=method,
    )
    expected = epochs_of(loader_folder, 4)
    assert [by_number(batches) for _ in range(2)] == expected[:2]
    next(iter(batches))  # a loop that is left is an epoch, too
    assert by_number(batches) == expected[3]


def test_more_workers_than_batches(loader_folder):
    options = {"input_nodes": np.arange(200), "ids": "external", "batch_size": 128}
    dataset = gm.torch.BatchDataset(make_loader(loader_folder, **options))
    batches = DataLoader(dataset, batch_size=None, num_workers=4)
    assert by_number(batches) == epochs_of(loader_folder, 1, **options)[0]


def test_loops_that_are_left_are_epochs(loader_folder):
    dataset = gm.torch.BatchDataset(make_loader(loader_folder))
    batches = DataLoader(dataset, batch_size=None, num_workers=2)
    for _ in range(3):
        next(iter(batches))
    assert by_number(batches) == epochs_of(loader_folder, 4)[3]


def test_the_number_of_workers_may_change(loader_folder):
    dataset = gm.torch.BatchDataset(make_loader(loader_folder))
    found = [
        by_number(DataLoader(dataset, batch_size=None, num_workers=count)) for count in (2, 0, 3)
    ]
    assert found == epochs_of(loader_folder, 3)


@pytest.mark.parametrize("num_workers", [0, 2])
def test_set_epoch(loader_folder, num_workers):
    dataset = gm.torch.BatchDataset(make_loader(loader_folder))
    batches = DataLoader(
        dataset,
        batch_size=None,
        num_workers=num_workers,
        persistent_workers=num_workers > 0,
    )
    expected = epochs_of(loader_folder, 3)
    assert by_number(batches) == expected[0]
    dataset.set_epoch(2)
    assert by_number(batches) == expected[2]
    dataset.set_epoch(1)
    assert by_number(batches) == expected[1]
    with pytest.raises(ValueError, match="epoch must be at least 0"):
        dataset.set_epoch(-1)


def test_it_begins_where_the_loader_is(loader_folder):
    loader = make_loader(loader_folder)
    list(loader)
    assert by_number(gm.torch.BatchDataset(loader)) == epochs_of(loader_folder, 2)[1]


@pytest.mark.parametrize("num_workers", [0, 2])
def test_ranks_share_an_epoch(loader_folder, num_workers):
    seen = []
    for rank in range(3):
        loader = make_loader(loader_folder, rank=rank, world_size=3, drop_last=False)
        batches = list(
            DataLoader(gm.torch.BatchDataset(loader), batch_size=None, num_workers=num_workers)
        )
        assert len(batches) == 3
        seen += [place for batch in batches for place in batch.input_ids.tolist()]
    assert set(seen) == set(range(1000))
    assert len(seen) == 1002


def test_copies_count_for_themselves(loader_folder):
    dataset = gm.torch.BatchDataset(make_loader(loader_folder))
    list(dataset)
    for other in (copy.deepcopy(dataset), pickle.loads(pickle.dumps(dataset))):  # noqa: S301
        assert by_number(other) == epochs_of(loader_folder, 2)[1]
    assert by_number(dataset) == epochs_of(loader_folder, 2)[1]


def test_a_loader_pickles_without_its_data(loader_folder):
    loader = make_loader(loader_folder, input_nodes=[1, 2, 3], ids="external")
    list(loader)
    text = pickle.dumps(loader)
    assert len(text) < 3000  # neither 3,000 labels nor rows
    again = pickle.loads(text)  # noqa: S301
    assert by_number(again) == by_number(loader)
    assert again.stats().batches == 1


def test_workers_share_the_memory(loader_folder):
    loader = make_loader(loader_folder, memory="64KiB")

    def look(batch):
        return facts(batch)

    dataset = gm.torch.BatchDataset(loader)
    batches = DataLoader(dataset, batch_size=None, num_workers=2, collate_fn=look)
    assert sorted(batches) == epochs_of(loader_folder, 1)[0]
    assert loader._memory == 64 << 10


def test_what_is_refused():
    with pytest.raises(TypeError, match="takes a loader of"):
        gm.torch.BatchDataset([1, 2])


def make_link_loader(folder):
    dataset = gm.Dataset(folder / "hot")
    links = np.random.default_rng(4).integers(0, dataset.num_nodes, (2, 900))
    options = {"neg_sampling": "binary", "shuffle": True, "batch_size": 128, "seed": 5}
    options |= {"edge_label_index": links, "ids": "internal", "memory": "1MiB"}
    return gm.torch.LinkNeighborLoader(dataset, [4, 3], **options)


def link_facts(batches):
    return sorted(
        (*facts(batch), batch.edge_label_index.tolist(), batch.edge_label.tolist())
        for batch in batches
    )


@pytest.mark.parametrize("context", [None, "fork", "spawn"])
def test_links_too(loader_folder, context, capfd):
    dataset = gm.torch.BatchDataset(make_link_loader(loader_folder))
    num_workers = 0 if context is None else 2
    batches = DataLoader(
        dataset, batch_size=None, num_workers=num_workers, multiprocessing_context=context
    )
    expected = make_link_loader(loader_folder)
    assert [link_facts(batches) for _ in range(2)] == [link_facts(expected) for _ in range(2)]
    assert capfd.readouterr().err == "", "workers end without a word"
