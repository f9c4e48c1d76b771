"""torchdata's `StatefulDataLoader` over our loaders: what is left of an epoch, after a stop.

The protocol, `state_dict` and `load_state_dict` of a dataset, is tested without torchdata as well.
"""

from __future__ import annotations

import pickle

import pytest

import graphmount as gm

torch = pytest.importorskip("torch", reason="torch is not installed")
from torch.utils.data import DataLoader  # noqa: E402

import graphmount.torch  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning"),
    pytest.mark.filterwarnings("ignore:'set_vital' is deprecated:UserWarning"),  # torchdata's
]


@pytest.fixture
def stateful():
    module = pytest.importorskip(
        "torchdata.stateful_dataloader", reason="torchdata is not installed"
    )
    return module.StatefulDataLoader


def make_dataset(folder, **options):
    options = {"input_nodes": "train", "batch_size": 128, "seed": 5, "memory": "1MiB"} | options
    loader = gm.torch.NeighborLoader(gm.Dataset(folder / "hot"), [4, 3], shuffle=True, **options)
    return gm.torch.BatchDataset(loader)


def facts(batch):
    return batch.epoch, batch.number, batch.nodes.tolist(), batch.edge_index.tolist()


@pytest.mark.parametrize("num_workers", [0, 1, 2, 3])
@pytest.mark.parametrize("taken", [0, 1, 5, 8])
def test_it_goes_on_where_it_was(stateful, loader_folder, num_workers, taken):
    """The batches after the stop are those that would have come, in this epoch and the next."""

    def make():
        dataset = make_dataset(loader_folder)
        return stateful(dataset, batch_size=None, num_workers=num_workers)

    whole = make()
    expected = [[facts(batch) for batch in whole] for _ in range(3)]
    assert all(len(epoch) == 8 for epoch in expected)
    first = make()
    assert [facts(batch) for batch in first] == expected[0]
    batches = iter(first)
    assert [facts(next(batches)) for _ in range(taken)] == expected[1][:taken]
    if taken == 8:
        assert list(batches) == []
    state = pickle.loads(pickle.dumps(first.state_dict()))  # noqa: S301  (our own)
    again = make()
    again.load_state_dict(state)
    rest = [facts(batch) for batch in again]
    if taken == 8:  # an epoch that is over is followed by the next
        assert rest == expected[2]
    else:
        assert rest == expected[1][taken:]
        assert [facts(batch) for batch in again] == expected[2]


def test_workers_that_stay(stateful, loader_folder):
    def make():
        return stateful(
            make_dataset(loader_folder), batch_size=None, num_workers=2, persistent_workers=True
        )

    whole = make()
    expected = [[facts(batch) for batch in whole] for _ in range(3)]
    first = make()
    batches = iter(first)
    assert [facts(next(batches)) for _ in range(3)] == expected[0][:3]
    state = first.state_dict()
    again = make()
    again.load_state_dict(state)
    assert [facts(batch) for batch in again] == expected[0][3:]
    assert [facts(batch) for batch in again] == expected[1]
    assert [facts(batch) for batch in again] == expected[2]


def test_a_worker_refuses_another_seed(stateful, loader_folder):
    first = stateful(make_dataset(loader_folder), batch_size=None, num_workers=1)
    next(iter(first))
    other = stateful(make_dataset(loader_folder, seed=6), batch_size=None, num_workers=1)
    other.load_state_dict(first.state_dict())
    with pytest.raises(ValueError, match="give the loader the seed= that it had"):
        list(other)


@pytest.mark.parametrize("taken", [0, 3, 8])
def test_the_protocol(loader_folder, taken):
    dataset, other = make_dataset(loader_folder), make_dataset(loader_folder, seed=99)
    expected = [[facts(batch) for batch in make_dataset(loader_folder)]]
    batches = iter(dataset)
    for _ in range(taken):
        next(batches)
    if taken == 8:
        assert next(batches, None) is None
    other.load_state_dict(dataset.state_dict())  # in one process, the seed comes with it
    assert [facts(batch) for batch in other] == expected[0][taken:]
    assert {batch.epoch for batch in other} == {1}


def test_before_the_first_loop(loader_folder):
    dataset = make_dataset(loader_folder)
    dataset.set_epoch(3)
    state = dataset.state_dict()
    assert (state["epoch"], state["batch"]) == (3, 0)
    other = make_dataset(loader_folder)
    other.load_state_dict(state)
    assert next(iter(other)).epoch == 3


def test_a_wrong_state_changes_nothing(loader_folder):
    dataset = make_dataset(loader_folder)
    for wrong in (None, {}, {**dataset.state_dict(), "batch": 100}):
        with pytest.raises((TypeError, ValueError)):
            dataset.load_state_dict(wrong)
    assert [batch.number for batch in dataset] == list(range(8))


def test_set_epoch_comes_after_a_state(loader_folder):
    dataset = make_dataset(loader_folder)
    dataset.load_state_dict({**dataset.state_dict(), "batch": 5})
    dataset.set_epoch(7)
    assert [(batch.epoch, batch.number) for batch in dataset] == [(7, i) for i in range(8)]


@pytest.mark.parametrize("num_workers", [0, 2])
def test_a_loader_is_no_dataset(loader_folder, num_workers):
    """`DataLoader(loader)` says what to do instead."""
    loader = make_dataset(loader_folder)._loader
    with pytest.raises(TypeError, match=r"DataLoader\(graphmount\.torch\.BatchDataset\(loader\)"):
        next(iter(DataLoader(loader, num_workers=num_workers)))
    with pytest.raises(TypeError, match="has no item 0"):
        loader[0]
