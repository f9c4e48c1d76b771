"""`graphmount.pyg.MetaPath2Vec`: PyG's constructor and methods, over walks through relations."""

from __future__ import annotations

import gc
import pickle
from pathlib import Path

import numpy as np
import pytest

import graphmount as gm

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.nn import MetaPath2Vec as PygMetaPath2Vec  # noqa: E402

import graphmount.pyg  # noqa: E402

WRITES, WRITTEN = ("author", "writes", "paper"), ("paper", "written_by", "author")
PATH = [WRITES, WRITTEN]


def two_groups():
    """Authors and papers of two groups; papers are by authors of their own group, with few others.

    Returns the edges of both relations, and the group of each author.
    """
    generator = np.random.default_rng(4)
    group = np.repeat([0, 1], 20)
    nearness = np.where(group[:, None] == group[None, :], 0.4, 0.02)
    ends = torch.from_numpy(np.argwhere(generator.random((40, 40)) < nearness).T.copy())
    return {WRITES: ends, WRITTEN: ends.flip(0)}, torch.from_numpy(group)


def make(edges, cls=None, **change):
    options = {
        "embedding_dim": 16,
        "metapath": PATH,
        "walk_length": 6,
        "context_size": 3,
        "walks_per_node": 4,
        "sparse": True,
    }
    return (cls or gm.pyg.MetaPath2Vec)(edges, **(options | change))


def test_training_separates_groups():
    edges, group = two_groups()
    torch.manual_seed(0)
    model = make(edges)
    optimizer = torch.optim.SparseAdam(list(model.parameters()), lr=0.05)
    losses = []
    for _ in range(15):
        for pos_rw, neg_rw in model.loader(batch_size=20, shuffle=True):
            optimizer.zero_grad()
            loss = model.loss(pos_rw, neg_rw)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    assert np.mean(losses[-3:]) < 0.8 * losses[0]
    pytest.importorskip("sklearn")
    z, is_train = model("author"), torch.arange(40) % 2 == 0
    accuracy = model.test(z[is_train], group[is_train], z[~is_train], group[~is_train], max_iter=99)
    assert accuracy > 0.9


def test_it_is_laid_out_as_pygs():
    edges, _ = two_groups()
    ours, theirs = make(edges), make(edges, PygMetaPath2Vec)
    assert ours.start == theirs.start
    assert ours.end == theirs.end
    assert ours.dummy_idx == theirs.dummy_idx
    assert ours.num_nodes_dict == theirs.num_nodes_dict
    with (
        torch.no_grad()
    ):  # PyG adds 1e-15 to what it takes logarithms of: of large scores, too much
        theirs.embedding.weight *= 0.1
    ours.load_state_dict(theirs.state_dict())
    assert torch.equal(ours("paper"), theirs("paper"))
    assert repr(ours) == repr(theirs)
    pos_rw, neg_rw = ours.sample(torch.arange(40))
    assert [part.shape for part in (pos_rw, neg_rw)] == [
        part.shape for part in theirs._sample(list(range(40)))
    ]
    assert torch.allclose(ours.loss(pos_rw, neg_rw), theirs.loss(pos_rw, neg_rw), atol=1e-4)


def test_walks_go_along_the_relations():
    edges, _ = two_groups()
    model = make(edges, context_size=7)
    there = set(zip(*edges[WRITES].tolist(), strict=True))
    walks = model.pos_sample(torch.arange(40))
    assert walks.shape == (160, 7)
    for walk in walks.tolist():
        authors, papers = walk[0::2], [node - 40 for node in walk[1::2]]
        for step, paper in enumerate(papers):
            assert (authors[step], paper) in there
            assert (authors[step + 1], paper) in there


def test_walks_that_end_and_types_of_other_sizes():
    edges = {WRITES: torch.tensor([[0, 1], [4, 4]]), WRITTEN: torch.tensor([[4], [1]])}
    model = make(edges, walk_length=3, context_size=4, num_nodes_dict={"author": 3})
    assert (model.start, model.end, model.dummy_idx) == (
        {"author": 0, "paper": 3},
        {"author": 3, "paper": 8},
        8,
    )
    assert model.pos_sample(torch.tensor([0, 2])).tolist()[:2] == [[0, 7, 1, 7], [2, 8, 8, 8]]
    negatives = model.neg_sample(torch.tensor([0, 1, 2]).repeat(50))
    assert negatives[:, 1].min() >= 3
    assert negatives[:, 2].max() <= 2


def test_a_dataset_and_whose_ids(tmp_path):
    edges, _ = two_groups()
    gm.compile_dataset(
        tmp_path / "two",
        nodes={
            "author": gm.Nodes(num_nodes=40, splits={"train": [5, 30]}),
            "paper": gm.Nodes(num_nodes=40),
        },
        edges={WRITES: tuple(edges[WRITES].numpy())},
        reverse=True,
    )
    dataset = gm.Dataset(tmp_path / "two")
    model = make(dataset, metapath=[WRITES, ("paper", "rev_writes", "author")])
    with pytest.raises(gm.errors.IdError, match=r"external.*internal"):
        model("author", torch.tensor([5, 30]))
    own = np.array(dataset.nodes["author"].to_internal([5, 30]))
    expected = model("author")[torch.from_numpy(own)]
    assert torch.equal(model("author", torch.tensor([5, 30]), ids="external"), expected)
    assert torch.equal(model("author", "train"), expected)
    assert torch.equal(model("author", torch.from_numpy(own), ids="internal"), expected)
    with pytest.raises(ValueError, match=r"num_nodes_dict= is for tensors"):
        make(dataset, num_nodes_dict={"author": 40})
    batches = list(model.loader(batch_size=16, num_workers=2))
    starts = torch.cat([pos_rw[:4, 0] for pos_rw, _ in batches])
    assert len(batches) == 3
    assert starts.max() < 40


def test_the_same_seed_has_the_same_walks():
    model = make(two_groups()[0])
    torch.manual_seed(7)
    once = model.sample(torch.arange(40))
    torch.manual_seed(7)
    again = model.sample(torch.arange(40))
    assert all(torch.equal(a, b) for a, b in zip(once, again, strict=True))


def test_the_temporary_dataset_goes_with_the_model():
    model = make(two_groups()[0])
    folder = Path(model._dataset.path).parent
    assert folder.is_dir()
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert torch.equal(copy("paper"), model("paper"))
    del model
    gc.collect()
    assert not folder.exists()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"edge_index_dict": [1]}, TypeError, "must be a dict of tensors or a TypedDataset"),
        ({"edge_index_dict": {WRITES: torch.zeros(3, 2)}}, ValueError, r"not \(3, 2\)"),
        ({"edge_index_dict": {WRITES: [[0], [1]]}}, ValueError, "must be a tensor of shape"),
        (
            {"metapath": [WRITES, WRITES]},
            ValueError,
            r"leads to 'paper', and .* begins at 'author'",
        ),
        ({"metapath": [WRITES]}, ValueError, "begins anew"),
        ({"metapath": [WRITES, ("paper", "x", "author")]}, ValueError, "edge_index_dict has"),
        ({"metapath": []}, ValueError, "must be a list of relations"),
        ({"walk_length": 1}, ValueError, "2 nodes, fewer than context_size=3"),
        ({"context_size": 1}, ValueError, "context_size must be at least 2"),
        ({"num_nodes_dict": {"author": 2}}, gm.errors.GraphmountError, "2"),
        ({"weighted": True}, gm.errors.MissingDataError, "weights"),
    ],
)
def test_refusals(change, error, message):
    options = {"edge_index_dict": two_groups()[0]} | change
    edges = options.pop("edge_index_dict")
    with pytest.raises(error, match=message):
        make(edges, **options)


def test_types_and_nodes_that_do_not_exist():
    model = make(two_groups()[0])
    with pytest.raises(ValueError, match=r"'venue': the path has the types \['author', 'paper'\]"):
        model("venue")
    with pytest.raises(gm.errors.IdError, match="40 nodes"):
        model("paper", torch.tensor([40]))
    with pytest.raises(gm.errors.IdError, match="40"):
        model.sample([40])
