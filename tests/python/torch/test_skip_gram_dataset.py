"""Walks as a dataset: batches of pairs that follow from seed, epoch and number alone."""

from __future__ import annotations

import numpy as np
import pytest

import graphmount as gm
from graphmount.errors import IdError, MissingDataError

torch = pytest.importorskip("torch", reason="torch is not installed")
from torch.utils.data import DataLoader  # noqa: E402

import graphmount.torch  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning"),
]


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    path = tmp_path_factory.mktemp("walks") / "g.gl"
    generator = np.random.default_rng(0)
    gm.compile_graph(generator.integers(0, 50, (2, 400)), path, num_nodes=52)
    return gm.Graph(path)


def facts(batch):
    parts = (batch.centers, batch.contexts, batch.negatives)
    return (batch.epoch, batch.number, *(part.tolist() for part in parts))


def make(graph, **options):
    options = {"window": 2, "negatives": 3, "p": 0.5, "batch_size": 16, "seed": 4} | options
    return gm.torch.SkipGramDataset(graph, 6, **options)


def test_pairs_are_those_of_the_walks(graph):
    """The slow twin cuts the walks by hand; the walks of a batch are those of its seed."""
    dataset = make(graph, negatives=0)
    for batch in dataset:
        starts = np.arange(52)[batch.number * 16 : (batch.number + 1) * 16]
        seed = (dataset._key, batch.epoch, batch.number)
        walks = graph.random_walk(starts, 6, p=0.5, dead_end="end", seed=seed)
        expected = [
            (int(walk[place]), int(walk[other]))
            for walk in walks
            for place in range(7)
            for other in range(max(0, place - 2), min(7, place + 3))
            if place != other and walk[place] >= 0 and walk[other] >= 0
        ]
        assert list(zip(batch.centers.tolist(), batch.contexts.tolist(), strict=True)) == expected


@pytest.mark.parametrize("num_workers", [0, 1, 2, 3])
@pytest.mark.parametrize("shuffle", [False, True])
def test_workers_give_the_same_batches_in_order(graph, num_workers, shuffle):
    expected = make(graph, shuffle=shuffle)
    batches = DataLoader(make(graph, shuffle=shuffle), batch_size=None, num_workers=num_workers)
    assert len(batches) == len(expected) == 4
    for epoch in range(2):
        found = list(map(facts, batches))
        assert found == list(map(facts, expected))
        assert [one[:2] for one in found] == [(epoch, number) for number in range(4)]


def test_epochs_differ_and_can_be_repeated(graph):
    dataset = make(graph)
    first, second = list(map(facts, dataset)), list(map(facts, dataset))
    assert [one[2:] for one in first] != [one[2:] for one in second]
    dataset.set_epoch(0)
    assert list(map(facts, dataset)) == first
    assert list(map(facts, make(graph, seed=5))) != first


@pytest.mark.parametrize("shuffle", [False, True])
def test_every_start_has_its_walks(graph, shuffle):
    """With a window as long as the walks, the first center of each walk is its start."""
    starts = np.array([3, 4, 4, 9])
    dataset = make(
        graph,
        starts=starts,
        walks_per_start=5,
        batch_size=1,
        shuffle=shuffle,
        negatives=2,
        dead_end="stay",
    )
    batches = list(dataset)
    assert len(batches) == len(dataset) == 20
    firsts = [int(batch.centers[0]) for batch in batches]
    assert sorted(firsts) == sorted(starts.tolist() * 5)
    assert (firsts == starts.tolist() * 5) == (not shuffle)
    for batch in batches:
        assert batch.negatives.shape == (len(batch.centers), 2)
        assert 0 <= int(batch.negatives.min()) <= int(batch.negatives.max()) < 52


def test_a_mask_of_starts(graph):
    mask = np.zeros(52, np.bool_)
    mask[[1, 7]] = True
    (batch,) = make(graph, starts=mask, dead_end="stay")
    assert {int(batch.centers[0])} == {1}


def test_no_starts(graph):
    assert list(make(graph, starts=[])) == []


def test_what_is_refused(graph, tmp_path):
    with pytest.raises(TypeError, match="takes a mounted Graph"):
        gm.torch.SkipGramDataset("g.gl", 6, window=2)
    with pytest.raises(IdError, match="52 nodes"):
        make(graph, starts=[52])
    with pytest.raises(ValueError, match="window"):
        make(graph, window=0)
    with pytest.raises(ValueError, match="walks_per_start"):
        make(graph, walks_per_start=0)
    with pytest.raises(TypeError, match="unexpected keyword"):
        make(graph, windows=3)
    gm.compile_graph(([0], [1]), tmp_path / "in.gl", neighbors="in")
    with pytest.raises(MissingDataError, match="neighbors="):
        make(gm.Graph(tmp_path / "in.gl"))
