"""States of loaders: what is in them, which loaders take them, and what they refuse to take.

A loader that goes on gives each seed that was not given yet, once: with as many processes as
before, or with others.
"""

from __future__ import annotations

import copy
import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphmount as gm

OPTIONS = {"input_nodes": np.arange(0, 300, 2), "batch_size": 8, "shuffle": True, "seed": 3}
LINKS = {"neg_sampling": ("binary", 2), "batch_size": 8, "shuffle": True, "seed": 3}


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    path = tmp_path_factory.mktemp("state") / "g.gl"
    edges = np.random.default_rng(0).integers(0, 300, (2, 2000))
    gm.compile_graph(edges, path, num_nodes=300, weights=np.ones(2000), timestamps=np.arange(2000))
    return gm.Graph(path)


def links_of(count, seed=1):
    return np.random.default_rng(seed).integers(0, 300, (2, count))


def make(graph, **options):
    fanouts = options.pop("num_neighbors", [3])
    return gm.NeighborLoader(graph, fanouts, **(OPTIONS | options))


def make_links(graph, **options):
    options = {"edge_label_index": links_of(100)} | LINKS | options
    return gm.LinkNeighborLoader(graph, options.pop("num_neighbors", [3]), **options)


def state_at(loader, batch, epoch=1):
    return {**loader.state_dict(), "batch": batch, "epoch": epoch}


def through_json(state):
    return json.loads(json.dumps(state))


def places_of(loaders):
    """All that loaders give in their next loop, rank by rank, batch by batch."""
    return [[batch.input_ids.tolist() for batch in loader] for loader in loaders]


def test_a_state_is_plain_data(graph):
    for loader in (make(graph), make_links(graph), make_links(graph, neg_sampling=None)):
        state = loader.state_dict()
        assert through_json(state) == state
        loader.load_state_dict(through_json(state))
        loader.load_state_dict({**state, "order": {**state["order"], "num_neighbors": (3,)}})


OTHERS = [
    ({"batch_size": 4}, r"batch_size x world_size is 8 x 1 = 8 in the state and 4 x 1 = 4 here"),
    ({"shuffle": False}, r"shuffle is True in the state and False here"),
    ({"drop_last": True}, r"drop_last is False in the state and True here"),
    ({"input_nodes": np.arange(1, 300, 2)}, "checksum of the inputs is '"),
    ({"input_nodes": np.arange(0, 300, 2)[::-1]}, "checksum of the inputs is '"),
    ({"input_nodes": np.arange(0, 200, 2)}, "number of inputs is 150 in the state and 100 here"),
    ({"num_neighbors": [3, 3]}, r"num_neighbors is \[3\] in the state and \[3, 3\] here"),
    ({"replace": True}, "replace is False in the state and True here"),
    ({"weighted": True}, "weighted is False in the state and True here"),
    ({"disjoint": True}, "disjoint is False in the state and True here"),
    ({"subgraph_type": "induced"}, "subgraph_type is 'directional' in the state"),
    ({"direction": "out"}, "direction is 'in' in the state and 'out' here"),
    ({"input_time": np.arange(150)}, "checksum of the times of inputs is None in the state"),
    ({"rank": 0, "world_size": 2}, r"8 x 2 = 16 here \(batch_size=4 would do for 2 processes\)"),
]


@pytest.mark.parametrize(("options", "message"), OTHERS, ids=[str(list(o)) for o, _ in OTHERS])
def test_a_state_of_another_order_is_refused(graph, options, message):
    state = state_at(make(graph), 5)
    other = make(graph, **options)
    with pytest.raises(ValueError, match=message) as caught:
        other.load_state_dict(state)
    assert other.state_dict() == make(graph, **options).state_dict()
    # The advice works, to the letter.
    advice = str(caught.value).split("Or begin that epoch anew: ")[1]
    eval(advice, {"loader": other})  # noqa: S307
    assert (other.state_dict()["epoch"], other.state_dict()["batch"]) == (1, 0)


OTHER_LINKS = [
    ({"neg_sampling": None}, "neg_sampling is 'binary' in the state and None here"),
    ({"neg_sampling": "triplet"}, "neg_sampling is 'binary' in the state and 'triplet' here"),
    ({"neg_sampling": ("binary", 1)}, "amount is 2.0 in the state and 1.0 here"),
    (
        {"neg_sampling": gm.LinkNegatives("binary", 2, weighting="degree")},
        "weighting is 'uniform' in the state",
    ),
    (
        {"neg_sampling": gm.LinkNegatives("binary", 2, strict=False)},
        "strict is True in the state.*self_loops is False in the state and True here",
    ),
    (
        {"neg_sampling": gm.LinkNegatives("binary", 2, dst_weight=np.arange(300))},
        "checksum of dst_weight is None in the state and '",
    ),
    ({"edge_label_index": links_of(100, 2)}, "checksum of the inputs"),
    ({"edge_label_index": links_of(100)[::-1]}, "checksum of the inputs"),
    ({"edge_label_time": np.arange(100)}, "checksum of the times"),
    ({"batch_size": 9}, "8 x 1 = 8 in the state and 9 x 1 = 9 here"),
]


@pytest.mark.parametrize(("options", "message"), OTHER_LINKS, ids=[m for _, m in OTHER_LINKS])
def test_a_state_of_other_links_is_refused(graph, options, message):
    state = state_at(make_links(graph), 5)
    with pytest.raises(ValueError, match=message):
        make_links(graph, **options).load_state_dict(state)


def test_every_difference_is_named(graph):
    state = state_at(make(graph), 5)
    other = make(graph, shuffle=False, drop_last=True, batch_size=5)
    with pytest.raises(ValueError, match=r"shuffle is.*drop_last is.*batch_size x world_size"):
        other.load_state_dict(state)
    with pytest.raises(ValueError, match="has for inputs is 'nodes' in the state and 'links' here"):
        make_links(graph).load_state_dict(state)


def test_a_state_of_another_graph_is_refused(graph, tmp_path):
    gm.compile_graph(links_of(10), tmp_path / "other.gl", num_nodes=300)
    other = gm.NeighborLoader(gm.Graph(tmp_path / "other.gl"), [3], **OPTIONS)
    with pytest.raises(ValueError, match="number of edges of the graph is 2000 in the state and"):
        other.load_state_dict(make(graph).state_dict())
    # One with as many edges, but others, would give other samples.
    for seed, name in ((1, "one.gl"), (2, "two.gl"), (1, "again.gl")):
        gm.compile_graph(links_of(50, seed), tmp_path / name, num_nodes=300)
    one, two, again = (
        gm.NeighborLoader(gm.Graph(tmp_path / name), [3], **OPTIONS)
        for name in ("one.gl", "two.gl", "again.gl")
    )
    again.load_state_dict(one.state_dict())
    with pytest.raises(ValueError, match=r"loader with another order.*: the checksum of the graph"):
        two.load_state_dict(one.state_dict())


def test_what_is_no_state_is_refused(graph):
    loader = make(graph)
    good = loader.state_dict()
    before = copy.deepcopy(good)
    old = {name: good[name] for name in ("epoch", "batch", "key")}
    for bad, error, message in [
        (None, TypeError, "what state_dict.. gives, a dict, not None"),
        ("state", TypeError, "a dict, not 'state'"),
        ({}, ValueError, "the state has no 'key'"),
        (old, ValueError, "does not say which order.*version None of states"),
        ({**good, "version": 0}, ValueError, "version 0 of states"),
        ({**good, "version": np.ones(3)}, ValueError, "does not say which order"),
        ({**good, "order": 5}, ValueError, "does not say which order"),
        ({**good, "order": {}}, TypeError, "batch_size'. must be one integer, not None"),
        ({**good, "order": good["order"] | {"shuffle": np.ones(3)}}, ValueError, "shuffle is arr"),
        ({**good, "order": good["order"] | {"later": 1}}, ValueError, "later is 1 in the state"),
        ({**good, "batch": 20}, ValueError, "is 20, and an epoch has 19 batches"),
        ({**good, "batch": -1}, ValueError, "state..batch.. must be at least 0"),
        ({**good, "batch": 1.5}, TypeError, "state..batch.. must be one integer"),
        ({**good, "epoch": None}, TypeError, "state..epoch.. must be one integer"),
        ({**good, "epoch": 2**63}, ValueError, "state..epoch.. must be at least 0"),
        ({**good, "key": "1"}, TypeError, "state..key.. must be one integer"),
        ({**good, "key": 2**64}, ValueError, "state..key.. must be at least 0"),
    ]:
        with pytest.raises(error, match=message):
            loader.load_state_dict(bad)
        assert loader.state_dict() == before


def test_a_refused_state_does_not_stop_the_loop(graph):
    loader = make(graph)
    expected = places_of([make(graph)])[0]
    batches = iter(loader)
    seen = [next(batches).input_ids.tolist()]
    for bad in (None, {}, state_at(make(graph, shuffle=False), 3)):
        with pytest.raises((TypeError, ValueError)):
            loader.load_state_dict(bad)
    seen += [batch.input_ids.tolist() for batch in batches]
    assert seen == expected


def loaders_of(graph, world_size, together, **options):
    size = together // world_size
    return [
        make(graph, batch_size=size, rank=rank, world_size=world_size, **options)
        for rank in range(world_size)
    ]


@given(st.data())
@settings(max_examples=40)
def test_another_number_of_processes_takes_what_is_left(graph, data):
    together = data.draw(st.sampled_from([12, 24]))
    worlds = st.sampled_from([1, 2, 3, 4, 6, 12])
    options = {
        "input_nodes": np.random.default_rng(5).permutation(300)[: data.draw(st.integers(0, 100))],
        "shuffle": data.draw(st.booleans()),
        "drop_last": data.draw(st.booleans()),
    }
    before = loaders_of(graph, data.draw(worlds), together, **options)
    num_inputs, num_batches = len(options["input_nodes"]), len(before[0])
    left_at = data.draw(st.integers(0, num_batches))
    seen, states = [], []
    for loader in before:
        batches = iter(loader)
        seen += [place for _ in range(left_at) for place in next(batches).input_ids.tolist()]
        states.append(loader.state_dict())
        loader.close()
    after = loaders_of(graph, data.draw(worlds), together, **(options | {"seed": 99}))
    for loader in after:
        assert len(loader) == num_batches
        state = data.draw(st.sampled_from(states))  # of any rank
        assert state["batch"] == left_at
        if left_at:
            loader.load_state_dict(through_json(state))
        else:
            loader.load_state_dict(through_json({**state, "epoch": 0}))
    rest = places_of(after)
    assert {len(batches) for batches in rest} == {num_batches - left_at}
    seen += [place for batches in rest for batch in batches for place in batch]
    if options["drop_last"]:
        assert len(seen) == len(set(seen)) == num_inputs // together * together
        return
    assert set(seen) == set(range(num_inputs))
    # Only the last batch has seeds twice, so that all ranks have as many.
    world_size = len(after) if left_at < num_batches else len(before)
    assert len(seen) == -(-num_inputs // world_size) * world_size


def test_the_rest_of_an_epoch_is_the_same_as_without_a_stop(graph):
    """After the change of ranks, the next epochs are shared like any other."""
    (alone,) = loaders_of(graph, 1, 24)
    state = state_at(alone, 3, epoch=4)
    ranks = loaders_of(graph, 3, 24, seed=77)
    for loader in ranks:
        loader.load_state_dict(state)
    alone.load_state_dict(state)
    for _ in range(2):
        (expected,) = places_of([alone])
        found = places_of(ranks)
        assert [sorted(itertools.chain(*parts)) for parts in zip(*found, strict=True)] == [
            sorted(places) for places in expected
        ]


def test_dataset_folders_of_the_same_data_share_states(loader_folder):
    """The folder is not part of a state, but the numbers of its nodes are."""
    hot, given_order = (gm.Dataset(loader_folder / name) for name in ("hot", "given"))
    options = {"input_nodes": [1, 2, 3], "ids": "internal"}
    state = gm.NeighborLoader(hot, [2], **options, seed=1).state_dict()
    again = gm.NeighborLoader(gm.Dataset(hot.path), [2], **options)
    again.load_state_dict(state)
    other = gm.NeighborLoader(given_order, [2], **options)
    with pytest.raises(ValueError, match="order of the nodes of the graph is"):
        other.load_state_dict(state)
