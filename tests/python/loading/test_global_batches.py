"""A batch of all ranks together is the same, however many ranks share it.

Ranks take the places r, r + w, r + 2w of a batch. Put back in this order, without what was repeated
to fill the last batch, their inputs are those of one process; and so are trees and negatives.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typed_loader_data import CITES, WRITES, make_typed

import graphmount as gm

GLOBAL = 12
NUM_NODES = 300


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    path = tmp_path_factory.mktemp("global") / "g.gl"
    edges = np.random.default_rng(0).integers(0, NUM_NODES, (2, 6000))
    gm.compile_graph(edges, path, num_nodes=NUM_NODES, timestamps=np.arange(6000))
    return gm.Graph(path)


@pytest.fixture(scope="module")
def typed(tmp_path_factory):
    path = tmp_path_factory.mktemp("global-typed") / "papers"
    make_typed(path)
    return gm.Dataset(path)


def ranks_of(make, world_size):
    """For each batch, those of all ranks."""
    loaders = [
        make(batch_size=GLOBAL // world_size, rank=rank, world_size=world_size)
        for rank in range(world_size)
    ]
    assert len({len(loader) for loader in loaders}) == 1
    batches = list(zip(*loaders, strict=True))
    assert len(batches) == len(loaders[0])
    repeated = sum(batch.num_repeated for ranks in batches for batch in ranks)
    assert repeated == loaders[0].stats().epoch_repeated
    assert all(batch.num_repeated == 0 for ranks in batches[:-1] for batch in ranks)
    return batches


def joined(parts, repeated):
    """What ranks have for their inputs, in the order of the whole batch, without what is again."""
    own = [list(part)[: len(part) - extra] for part, extra in zip(parts, repeated, strict=True)]
    most = max(map(len, own))
    return [part[i] for i in range(most) for part in own if i < len(part)]


def inputs_of(ranks):
    return joined(
        [batch.input_ids.tolist() for batch in ranks], [batch.num_repeated for batch in ranks]
    )


@given(st.data())
@settings(max_examples=20)
def test_inputs_are_those_of_one_process(graph, data):
    inputs = np.arange(data.draw(st.integers(0, 60)))
    options = {
        "shuffle": data.draw(st.booleans()),
        "drop_last": data.draw(st.booleans()),
        "seed": data.draw(st.integers(0, 5)),
    }
    if data.draw(st.booleans()):
        links = np.stack([inputs, inputs[::-1]])

        def make(**others):
            return gm.LinkNeighborLoader(graph, [2], edge_label_index=links, **options, **others)
    else:

        def make(**others):
            return gm.NeighborLoader(graph, [2], input_nodes=inputs, **options, **others)

    alone = [batch.input_ids.tolist() for (batch,) in ranks_of(make, 1)]
    if not options["drop_last"]:
        assert sorted(place for batch in alone for place in batch) == inputs.tolist()
    world_size = data.draw(st.sampled_from([2, 3, 4, 6, 12]))
    assert [inputs_of(ranks) for ranks in ranks_of(make, world_size)] == alone


def tree_of(batch, place):
    """The nodes of a tree in their order, and its edges as pairs of them."""
    own = np.flatnonzero(batch.batch == place)
    edges = batch.edge_index[:, np.isin(batch.edge_index[1], own)]
    return batch.nodes[own].tolist(), batch.nodes[edges].tolist()


def typed_tree_of(batch, place):
    nodes = {kind: ids[batch.batch[kind] == place].tolist() for kind, ids in batch.nodes.items()}
    edges = {}
    for relation, ends in batch.edge_index.items():
        own = batch.batch[relation[2]][ends[1]] == place
        edges[relation] = [
            batch.nodes[relation[0]][ends[0][own]].tolist(),
            batch.nodes[relation[2]][ends[1][own]].tolist(),
        ]
    return nodes, edges


@pytest.mark.parametrize("options", [{}, {"input_time": True}, {"replace": True}], ids=str)
@pytest.mark.parametrize("world_size", [2, 3, 4])
def test_every_seed_has_the_same_tree(graph, world_size, options):
    inputs = np.arange(31)  # the last batch has to be filled
    if "input_time" in options:
        options = {"input_time": inputs * 200}

    def make(**others):
        return gm.NeighborLoader(
            graph,
            [4, 3],
            input_nodes=inputs,
            disjoint=True,
            shuffle=True,
            seed=2,
            **options,
            **others,
        )

    def trees(ranks):
        return joined(
            [[tree_of(batch, place) for place in range(batch.num_seeds)] for batch in ranks],
            [batch.num_repeated for batch in ranks],
        )

    alone = [trees(ranks) for ranks in ranks_of(make, 1)]
    assert [trees(ranks) for ranks in ranks_of(make, world_size)] == alone
    assert len({str(tree) for batch in alone for tree in batch}) > 25


def test_every_seed_has_the_same_tree_in_many_types(typed):
    def make(**others):
        return gm.NeighborLoader(
            typed,
            [3, 2],
            input_nodes=("paper", np.arange(40)),
            ids="internal",
            disjoint=True,
            seed=2,
            **others,
        )

    def trees(ranks):
        return joined(
            [[typed_tree_of(batch, place) for place in range(batch.num_seeds)] for batch in ranks],
            [batch.num_repeated for batch in ranks],
        )

    alone = [trees(ranks) for ranks in ranks_of(make, 1)]
    for world_size in (2, 3):
        assert [trees(ranks) for ranks in ranks_of(make, world_size)] == alone


def test_the_first_hop_is_the_same_where_seeds_share_neighbors(graph):
    def make(**others):
        return gm.NeighborLoader(graph, [5, 5], input_nodes=np.arange(36), seed=4, **others)

    def first_hop(ranks):
        found = []
        for batch in ranks:
            bounds = batch.indptr[: batch.num_seeds + 1]
            neighbors = batch.nodes[batch.row]
            found.append([neighbors[begin:end].tolist() for begin, end in pairwise(bounds)])
        return joined(found, [batch.num_repeated for batch in ranks])

    alone = [first_hop(ranks) for ranks in ranks_of(make, 1)]
    for world_size in (2, 4):
        assert [first_hop(ranks) for ranks in ranks_of(make, world_size)] == alone


def pairs_of(batch):
    """For each link: its ends, and its negatives."""
    if batch.src_index is not None:
        ends = [batch.src_index, batch.dst_pos_index, *batch.dst_neg_index.T]
        return np.stack([batch.nodes[each] for each in ends], axis=1).tolist()
    source, destination = batch.nodes[batch.edge_label_index].reshape(2, -1, batch.num_links)
    return np.concatenate([source, destination]).T.tolist()


@pytest.mark.parametrize("disjoint", [False, True])
@pytest.mark.parametrize("negatives", [("binary", 2), ("triplet", 3)], ids=str)
def test_links_have_the_same_negatives(graph, negatives, disjoint):
    links = np.random.default_rng(1).integers(0, NUM_NODES, (2, 48))

    def make(**others):
        return gm.LinkNeighborLoader(
            graph,
            [2],
            edge_label_index=links,
            neg_sampling=negatives,
            disjoint=disjoint,
            shuffle=True,
            seed=3,
            **others,
        )

    def of(ranks):
        return joined(list(map(pairs_of, ranks)), [0] * len(ranks))

    alone = [of(ranks) for ranks in ranks_of(make, 1)]
    for world_size in (2, 3, 4):
        batches = ranks_of(make, world_size)
        assert [of(ranks) for ranks in batches] == alone
        # Ranks do not draw the same negatives as each other.
        assert all(pairs_of(ranks[0]) != pairs_of(ranks[1]) for ranks in batches)
    if disjoint:
        trees = [
            sorted(
                str(tree_of(batch, place))
                for ranks in ranks_of(make, size)
                for batch in ranks
                for place in range(batch.num_links)
            )
            for size in (1, 2, 4)
        ]
        assert trees[0] == trees[1] == trees[2]


@pytest.mark.parametrize("relation", [CITES, WRITES], ids=str)
def test_links_of_many_types_have_the_same_negatives(typed, relation):
    def make(**others):
        return gm.LinkNeighborLoader(
            typed,
            [2],
            edge_label_index=(relation, np.stack([np.arange(36), np.arange(36)[::-1]])),
            ids="internal",
            neg_sampling=("triplet", 2),
            seed=3,
            **others,
        )

    def pairs(batch):
        source, _, destination = batch.edge_type
        ends = [batch.nodes[source][batch.src_index], batch.nodes[destination][batch.dst_pos_index]]
        ends += list(batch.nodes[destination][batch.dst_neg_index].T)
        return np.stack(ends, axis=1).tolist()

    def of(ranks):
        return joined(list(map(pairs, ranks)), [0] * len(ranks))

    alone = [of(ranks) for ranks in ranks_of(make, 1)]
    for world_size in (2, 3):
        assert [of(ranks) for ranks in ranks_of(make, world_size)] == alone


def test_more_ranks_than_seeds(graph):
    def make(**others):
        return gm.NeighborLoader(graph, [2], input_nodes=[5, 9], seed=1, **others)

    ((*ranks,),) = ranks_of(make, 12)
    assert [len(batch.input_ids) for batch in ranks] == [1] * 12
    assert [batch.num_repeated for batch in ranks] == [0, 0] + [1] * 10
    assert {int(batch.nodes[0]) for batch in ranks} == {5, 9}
    empty = gm.NeighborLoader(graph, [2], input_nodes=[], rank=3, world_size=4)
    assert list(empty) == []


def test_batches_of_pyg_say_what_is_repeated(graph, typed):
    pyg = pytest.importorskip("graphmount.pyg", exc_type=ImportError)
    for data, inputs in ((graph, np.arange(5)), (typed, ("paper", np.arange(5)))):
        ids = {"ids": "internal"} if data is typed else {}
        loaders = [
            pyg.NeighborLoader(
                data, [2], input_nodes=inputs, batch_size=2, rank=rank, world_size=2, **ids
            )
            for rank in range(2)
        ]
        found = [["num_repeated" in batch for batch in loader] for loader in loaders]
        assert found == [[False, False], [False, True]]
        assert list(loaders[1])[-1].num_repeated == 1
