"""`loader.replay`: a few batches go round, and the loader is where it was."""

from __future__ import annotations

import numpy as np
import pytest
from loader_data import same

import graphmount as gm


def make(dataset, **options):
    options = {"batch_size": 200, "shuffle": True, "memory": "1MiB", "seed": 3} | options
    return gm.NeighborLoader(dataset, [4, 3], input_nodes="train", **options)


def test_it_goes_round_over_the_first_batches(dataset):
    loader = make(dataset)
    replay = loader.replay(2)
    assert len(replay) == len(loader) == 5
    expected = list(make(dataset))
    for _ in range(2):
        found = list(replay)
        assert [batch.number for batch in found] == [0, 1, 0, 1, 0]
        assert all(same(batch, expected[batch.number]) for batch in found)
    assert repr(replay) == "<Replay of 2 batches in 5 steps>"


def test_no_more_than_there_are(dataset):
    assert len(make(dataset).replay(1000).batches) == 5
    nobody = gm.NeighborLoader(dataset, [1], input_nodes=np.empty(0, np.int64))
    with pytest.raises(ValueError, match="has no batches"):
        nobody.replay()


@pytest.mark.parametrize("taken", [0, 2, 5])
def test_the_loader_goes_on_as_if_nobody_had_called_it(dataset, taken):
    loader, other = make(dataset), make(dataset)
    for each in (loader, other):
        batches = iter(each)
        for _ in range(taken):
            next(batches)
        if taken == 5:
            assert list(batches) == []
    state, stats = loader.state_dict(), loader.stats()
    loader.replay(3)
    assert loader.state_dict() == state == other.state_dict()
    if taken:
        assert loader.stats().epoch_tables == stats.epoch_tables
    assert all(same(*pair) for pair in zip(loader, other, strict=True))
    assert loader.stats().epoch_tables["x"].rows == other.stats().epoch_tables["x"].rows


def test_it_resumes_where_a_state_says(dataset):
    state = {**make(dataset).state_dict(), "epoch": 4, "batch": 3}
    loader = make(dataset)
    loader.load_state_dict(state)
    loader.replay(2)
    assert [(batch.epoch, batch.number) for batch in loader] == [(4, 3), (4, 4)]


def test_a_loop_that_runs_ends(dataset):
    loader = make(dataset)
    batches = iter(loader)
    next(batches)
    loader.replay(1)
    with pytest.raises(RuntimeError, match="ended by another one"):
        next(batches)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "2", None, True])
def test_a_refused_call_ends_no_loop(dataset, wrong):
    loader = make(dataset)
    batches = iter(loader)
    next(batches)
    with pytest.raises((TypeError, ValueError), match="num_batches"):
        loader.replay(wrong)
    assert len(list(batches)) == 4


def test_a_step_may_change_what_it_gets(dataset):
    torch = pytest.importorskip("graphmount.torch", exc_type=ImportError)
    loader = torch.NeighborLoader(dataset, [2], batch_size=200, seed=1)
    replay = loader.replay(1)
    first, second = (batch for batch, _ in zip(replay, range(2), strict=False))
    assert first is not second
    assert first.nodes is second.nodes  # but no memory is copied


def test_batches_of_pyg_are_new_each_time(dataset):
    pyg = pytest.importorskip("graphmount.pyg", exc_type=ImportError)
    loader = pyg.NeighborLoader(
        dataset, [2], input_nodes="train", batch_size=500, transform=lambda batch: batch
    )
    replay = loader.replay(1)
    for batch in replay:
        assert "mine" not in batch
        batch.mine = batch.x
