"""The loader of nodes over many types: its batches, against rows by ids and a slow twin."""

from __future__ import annotations

import copy
import os
import pickle
import threading

import numpy as np
import pytest
from typed_batch_twin import check_against_twin, lists_of
from typed_loader_data import (
    AT,
    CITES,
    COUNTS,
    WRITES,
    all_same,
    arrays_of,
    check_rows,
    make_typed,
    same,
)

import graphmount as gm
from graphmount import errors

FANOUTS = {WRITES: [3, 2], CITES: [4, 3], AT: [2, 2]}


@pytest.fixture(scope="module", params=["hot", "given"])
def ds(tmp_path_factory, request):
    return make_typed(tmp_path_factory.mktemp("typed") / "d", request.param)


@pytest.fixture(scope="module")
def hot(tmp_path_factory):
    return make_typed(tmp_path_factory.mktemp("typed") / "d")


def full(fanouts, dataset):
    """Fanouts of every relation; those that are left out are [1, 2]."""
    return {relation: fanouts.get(relation, [1, 2]) for relation in dataset.edge_types}


@pytest.mark.parametrize("memory", [0, "20KiB", "60KiB", "1MiB"])
@pytest.mark.parametrize("direction", ["in", "out"])
def test_batches_are_those_of_the_twin(ds, memory, direction):
    fanouts = full(FANOUTS, ds)
    lists = lists_of(ds, direction)
    train = np.asarray(ds.nodes["paper"].splits["train"])
    loader = gm.NeighborLoader(
        ds,
        fanouts,
        input_nodes=("paper", "train"),
        batch_size=64,
        edge_features=["writes"],
        direction=direction,
        memory=memory,
        seed=3,
    )
    count = 0
    for batch in loader:
        check_rows(batch)
        np.testing.assert_array_equal(batch.input_ids, np.arange(count, count + batch.batch_size))
        seeds = {"paper": train[batch.input_ids].tolist()}
        check_against_twin(batch, lists, fanouts, seeds, direction=direction)
        assert len(batch.nodes["topic"]) == 0  # nothing leads there
        assert set(batch.labels) == {"paper"}
        np.testing.assert_array_equal(batch.y, batch.labels["paper"])
        count += batch.batch_size
    assert count == len(train)


@pytest.mark.parametrize(
    "options",
    [
        {"replace": True},
        {"weighted": True},
        {"disjoint": True},
        {"disjoint": True, "weighted": True, "replace": True},
    ],
)
def test_options_of_sampling(hot, options):
    fanouts = full(FANOUTS, hot)
    lists = lists_of(hot)
    loader = gm.NeighborLoader(
        hot, fanouts, input_nodes="author", batch_size=100, memory="30KiB", seed=5, **options
    )
    for batch in loader:
        check_rows(batch)
        seeds = {"author": batch.input_ids.tolist()}
        twin = check_against_twin(batch, lists, fanouts, seeds, **options)
        if "disjoint" in options:
            assert {name: own.tolist() for name, own in batch.batch.items()} == twin.trees
        else:
            assert batch.batch is None


@pytest.mark.parametrize("strategy", ["uniform", "last"])
def test_no_edge_is_from_the_future(hot, strategy):
    fanouts = full(FANOUTS, hot)
    lists = lists_of(hot)
    nodes = hot.nodes["paper"].as_internal(np.arange(0, 900, 7))
    times = np.random.default_rng(1).integers(0, 100, len(nodes))
    loader = gm.NeighborLoader(
        hot,
        fanouts,
        input_nodes=("paper", nodes),
        input_time=times,
        temporal_strategy=strategy,
        batch_size=20,
        memory="30KiB",
        seed=5,
    )
    for batch in loader:
        check_rows(batch)
        seeds = {"paper": np.asarray(nodes)[batch.input_ids].tolist()}
        own = times[batch.input_ids].tolist()
        check_against_twin(batch, lists, fanouts, seeds, times=own, last=strategy == "last")


def test_subgraphs_of_other_kinds(hot):
    options = {"input_nodes": ("paper", "train"), "batch_size": 30, "seed": 2, "memory": "30KiB"}
    fanouts = {relation: [2, 1] for relation in hot.edge_types}
    drawn = list(gm.NeighborLoader(hot, fanouts, **options))
    induced = gm.NeighborLoader(
        hot, fanouts, subgraph_type="induced", edge_features=["writes"], **options
    )
    for batch, plain in zip(induced, drawn, strict=True):
        check_rows(batch)
        assert batch.num_sampled_edges is None
        assert batch.indptr is None
        for relation, ends in plain.edge_index.items():
            pairs = set(zip(*batch.edge_index[relation].tolist(), strict=True))
            assert set(zip(*ends.tolist(), strict=True)) <= pairs
    both = gm.NeighborLoader(
        hot, fanouts, subgraph_type="bidirectional", edge_features=["writes"], **options
    )
    reverse = {WRITES: ("paper", "rev_writes", "author"), AT: ("institution", "rev_at", "author")}
    reverse |= {two: one for one, two in reverse.items()} | {CITES: CITES}
    for batch, plain in zip(both, drawn, strict=True):
        check_rows(batch)
        for relation, ends in batch.edge_index.items():
            own = set(zip(*plain.edge_index[relation].tolist(), strict=True))
            other = zip(*plain.edge_index[reverse[relation]][::-1].tolist(), strict=True)
            assert set(zip(*ends.tolist(), strict=True)) == own | set(other)
        assert batch.edge_ids[WRITES] is None
        assert batch.edge_features[WRITES] == {}
        assert len(batch.edge_ids[CITES]) == batch.edge_index[CITES].shape[1]


def test_same_bits_for_any_threads_memory_window_and_reader(ds):
    def batches(threads, **options):
        gm.set_num_threads(threads)
        options = {"memory": "40KiB", "window": 16, **options}
        loader = gm.NeighborLoader(
            ds,
            full(FANOUTS, ds),
            input_nodes=("paper", "train"),
            batch_size=50,
            shuffle=True,
            edge_features=["writes"],
            seed=7,
            **options,
        )
        return [batch for _ in range(2) for batch in loader]

    before = gm.num_threads()
    try:
        wanted = batches(1)
        assert not same(wanted[0], wanted[len(wanted) // 2])  # another epoch
        for threads in (1, 2, 7):
            for memory in (0, "5KiB", "40KiB", "100KiB", "10MiB", None):
                assert all_same(wanted, batches(threads, memory=memory))
        for others in ({"window": 1}, {"reader": "pread"}, {"reader": "mapped"}, {"prefetch": 7}):
            assert all_same(wanted, batches(2, **others))
    finally:
        gm.set_num_threads(before)


def test_inputs_in_all_forms(hot):
    papers = hot.nodes["paper"]
    mask = np.zeros(COUNTS["paper"], bool)
    mask[[5, 800, 3]] = True
    forms = [
        {"input_nodes": ("paper", [3, 5, 800]), "ids": "external"},
        {"input_nodes": ("paper", mask), "ids": "external"},
        {"input_nodes": ["paper", papers.to_internal([3, 5, 800])]},
        {"input_nodes": {"paper": papers.to_internal([3, 5, 800])}},
        {"input_nodes": ("paper", np.asarray(papers.to_internal([3, 5, 800]))), "ids": "internal"},
    ]
    for form in forms:
        batch = next(iter(gm.NeighborLoader(hot, [1], batch_size=9, **form)))
        assert sorted(batch.external_ids["paper"][:3].tolist()) == [3, 5, 800]
        assert (batch.seed_type, batch.num_seeds, batch.batch_size) == ("paper", 3, 3)
    whole = gm.NeighborLoader(hot, [1], input_nodes="institution", batch_size=99)
    assert next(iter(whole)).num_seeds == COUNTS["institution"]
    assert len(gm.NeighborLoader(hot, [1], input_nodes=("author", "train"), batch_size=10)) == 14


def test_tables_are_chosen_by_name_and_type(hot):
    def tables(**options):
        loader = gm.NeighborLoader(hot, [2], input_nodes="paper", batch_size=900, **options)
        batch = next(iter(loader))
        check_rows(batch)
        return {name: list(own) for name, own in batch.features.items() if own}

    assert tables() == {"paper": ["x", "year"], "author": ["x"]}
    assert tables(features=["x"]) == {"paper": ["x"], "author": ["x"]}
    assert tables(features="year") == {"paper": ["year"]}
    assert tables(features={"author": ["x"]}) == {"author": ["x"]}
    assert tables(features=[]) == {}
    loader = gm.NeighborLoader(
        hot, [2], input_nodes="paper", dtype={("author", "x"): "float64", "year": "float64"}
    )
    batch = next(iter(loader))
    assert batch.features["author"]["x"].dtype == np.float64
    assert batch.features["paper"]["x"].dtype == np.float32
    assert batch.features["paper"]["year"].dtype == np.float64
    wide = next(iter(gm.NeighborLoader(hot, [2], input_nodes="paper", dtype="float64")))
    names = {rows.dtype.name for own in wide.features.values() for rows in own.values()}
    assert names == {"float64"}


def test_what_a_batch_has_beside_arrays(hot):
    batch = next(iter(gm.NeighborLoader(hot, [2], input_nodes=("paper", "train"), batch_size=4)))
    assert set(batch.x_dict) == {"paper", "author"}
    assert batch.edge_index_dict is batch.edge_index
    assert batch.num_nodes == sum(map(len, batch.nodes.values()))
    assert batch.num_edges == sum(ends.shape[1] for ends in batch.edge_index.values())
    assert "4 seeds of type 'paper'" in repr(batch)
    assert batch.dataset is hot
    with pytest.raises(AttributeError):
        batch.nodes = {}
    # Ids know their type, and are refused elsewhere.
    with pytest.raises(errors.IdError, match="nodes of another dataset"):
        hot.nodes["author"].to_external(batch.nodes["paper"])
    none = next(iter(gm.NeighborLoader(hot, [2], input_nodes="institution", batch_size=4)))
    assert none.labels == {}
    assert none.y is None


def make_loader(dataset, **options):
    options = {"shuffle": True, "seed": 3, "batch_size": 40, "memory": "30KiB", **options}
    return gm.NeighborLoader(dataset, full(FANOUTS, dataset), input_nodes="paper", **options)


def test_goes_on_in_the_middle_of_an_epoch(hot):
    wanted = list(make_loader(hot))
    loader = make_loader(hot)
    batches = iter(loader)
    for _ in range(5):
        next(batches)
    state = loader.state_dict()
    resumed = make_loader(hot, seed=99)
    resumed.load_state_dict(state)
    assert all_same(wanted[5:], resumed)
    copied = pickle.loads(pickle.dumps(loader))  # noqa: S301
    copied.load_state_dict(state)
    assert same(wanted[5], next(iter(copied)))


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"input_nodes": "author"}, "what the loader has for inputs"),
        ({"num_neighbors": [3, 3]}, "num_neighbors"),
        ({"batch_size": 41}, "batch_size"),
        ({"disjoint": True}, "disjoint"),
    ],
)
def test_states_of_other_loaders_are_refused(hot, changed, named):
    state = make_loader(hot).state_dict()
    options = {"shuffle": True, "seed": 3, "batch_size": 40, "input_nodes": "paper", **changed}
    fanouts = options.pop("num_neighbors", full(FANOUTS, hot))
    with pytest.raises(ValueError, match=named):
        gm.NeighborLoader(hot, fanouts, **options).load_state_dict(state)


def test_states_of_other_types_and_relations_are_refused(tmp_path, hot):
    state = make_loader(hot).state_dict()
    edges = {CITES: np.array([[0, 1], [1, 2]]), WRITES: ([0], [1])}
    nodes = {name: gm.Nodes(num_nodes=count) for name, count in COUNTS.items()}
    gm.compile_dataset(tmp_path / "other", nodes=nodes, edges=edges, order="given")
    other = gm.NeighborLoader(
        gm.Dataset(tmp_path / "other"), [1, 1], input_nodes="paper", batch_size=40, shuffle=True
    )
    with pytest.raises(ValueError, match="the list of relations") as error:
        other.load_state_dict(state)
    assert "the list of node types" in str(error.value)


def test_ranks_share_the_seeds(hot):
    seen = []
    for rank in range(3):
        loader = make_loader(hot, rank=rank, world_size=3, drop_last=True)
        seen += [place for batch in loader for place in batch.input_ids.tolist()]
    assert len(seen) == len(set(seen)) == 3 * 40 * (300 // 40)


def test_figures_are_of_each_table_and_type(hot):
    loader = make_loader(hot)
    batches = list(loader)
    stats = loader.stats()
    assert set(stats.tables) == {"paper/x", "paper/year", "author/x"}
    for name in COUNTS:
        assert stats.nodes_by_type[name] == sum(len(batch.nodes[name]) for batch in batches)
    for relation in hot.edge_types:
        count = sum(batch.edge_index[relation].shape[1] for batch in batches)
        assert stats.edges_by_relation[relation] == count
    assert stats.sampled_nodes == sum(stats.nodes_by_type.values())
    assert stats.tables["author/x"].rows == stats.nodes_by_type["author"]
    assert "paper/x/hit_rate" in stats.figures()
    assert "num_neighbors={" in repr(loader)


def test_caches_stay_within_their_memory(hot):
    """A budget that is smaller than one batch of one type is one, too."""
    least = 2 << 20  # for reads in flight, of each table
    for memory in (0, 3000, 30_000):
        loader = make_loader(hot, memory=memory)
        for batch in loader:
            check_rows(batch)
        tables = loader.stats().tables.values()
        total = sum(table.cache_bytes for table in tables)
        assert total <= memory + len(tables) * (least + 65536)


def test_two_loops_in_two_threads(hot):
    wanted = list(make_loader(hot))
    found = {}

    def loop(name):
        found[name] = list(make_loader(hot))

    threads = [threading.Thread(target=loop, args=(name,)) for name in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for batches in found.values():
        assert all_same(wanted, batches)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_of_fork_has_a_loop_of_its_own(hot):
    loader = make_loader(hot)
    wanted = list(make_loader(hot))
    batches = iter(loader)
    next(batches)
    child = os.fork()
    if child == 0:
        try:
            again = copy.copy(loader)
            again.load_state_dict({**loader.state_dict(), "epoch": 0, "batch": 0})
            fine = all_same(wanted, again)
        except BaseException:  # noqa: BLE001
            fine = False
        os._exit(0 if fine else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert same(wanted[1], next(batches))


REFUSED = {
    "no type": ({"input_nodes": ("papers", [0])}, ValueError, "no node type 'papers'"),
    "no inputs": ({"input_nodes": None}, TypeError, "input_nodes must be a node type and its"),
    "nodes alone": ({"input_nodes": [1, 2, 3]}, TypeError, "not .*; there are the types 'paper'"),
    "no split": ({"input_nodes": ("paper", "valid")}, ValueError, "has no split 'valid'"),
    "two types": ({"input_nodes": {"paper": [0], "author": [1]}}, ValueError, "of one type"),
    "whose ids": ({"input_nodes": ("paper", [0])}, errors.IdError, "ids='external'"),
    "far away": (
        {"input_nodes": ("institution", [30]), "ids": "internal"},
        errors.IdError,
        "30",
    ),
    "no relation": ({"num_neighbors": {("a", "b", "c"): [1]}}, ValueError, "no relation"),
    "one relation": ({"num_neighbors": {CITES: [1]}}, ValueError, "num_neighbors has no entry"),
    "a number": ({"num_neighbors": 3}, TypeError, "num_neighbors has a number for each hop"),
    "aggregation": ({"aggregate_last": "mean"}, ValueError, "datasets of one type"),
    "no table": ({"features": ["z"]}, ValueError, "no table 'z'; there are \\['x', 'year'\\]"),
    "no table there": ({"features": {"author": ["year"]}}, ValueError, "no table 'year'"),
    "no such type": ({"features": {"authors": ["x"]}}, ValueError, "features: there is no 'auth"),
    "no edge table": ({"edge_features": ["x"]}, ValueError, "there are \\['writes'\\]"),
    "no dtype": ({"dtype": {"z": "float16"}}, ValueError, "dtype: there is no table 'z'"),
    "times": ({"input_time": [1, 2]}, ValueError, "input_time has 2 times for 900"),
    "no rows": ({"edge_ids": "source"}, errors.MissingDataError, "source_rows=True"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_wrong_is_said(hot, case):
    options, kind, message = REFUSED[case]
    options = {"input_nodes": "paper", "num_neighbors": [2], **options}
    fanouts = options.pop("num_neighbors")
    with pytest.raises(kind, match=message):
        gm.NeighborLoader(hot, fanouts, **options)


def test_nodes_of_another_type_are_refused_as_seeds(hot):
    authors = hot.nodes["author"].to_internal([1, 2])
    with pytest.raises(errors.IdError, match="nodes of another dataset"):
        gm.NeighborLoader(hot, [2], input_nodes=("paper", authors))


def test_a_dict_of_fanouts_is_for_many_types(tmp_path):
    gm.compile_dataset(tmp_path / "one", edges=([0, 1], [1, 0]))
    with pytest.raises(TypeError, match="a dict, which is for datasets of many types"):
        gm.NeighborLoader(gm.Dataset(tmp_path / "one"), {CITES: [1]})


def test_edges_have_rows_of_the_source(tmp_path):
    nodes = {"a": gm.Nodes(num_nodes=50), "b": gm.Nodes(num_nodes=20)}
    generator = np.random.default_rng(1)
    ends = {
        ("a", "to", "b"): (generator.integers(0, 50, 90), generator.integers(0, 20, 90)),
        ("b", "to", "a"): (generator.integers(0, 20, 70), generator.integers(0, 50, 70)),
    }
    gm.compile_dataset(tmp_path / "d", nodes=nodes, edges=ends, source_rows=True)
    ds = gm.Dataset(tmp_path / "d")
    loader = gm.NeighborLoader(ds, [3, 3], input_nodes="b", batch_size=7, edge_ids="source")
    for batch in loader:
        names = batch.external_ids
        for relation, (row, col) in batch.edge_index.items():
            rows = batch.edge_ids[relation]
            np.testing.assert_array_equal(names[relation[0]][row], ends[relation][0][rows])
            np.testing.assert_array_equal(names[relation[2]][col], ends[relation][1][rows])
    assert len(arrays_of(batch)) > 0


@pytest.mark.parametrize("given", [False, True])
def test_nodes_from_the_future_are_not_drawn(tmp_path, *, given):
    generator = np.random.default_rng(4)
    years = generator.integers(2000, 2020, 200)
    gm.compile_dataset(
        tmp_path / "d",
        nodes={"paper": gm.Nodes(timestamps=years), "author": gm.Nodes(num_nodes=40)},
        edges={
            WRITES: (generator.integers(0, 40, 300), generator.integers(0, 200, 300)),
            CITES: generator.integers(0, 200, (2, 3000)),
        },
    )
    ds = gm.Dataset(tmp_path / "d")
    limits = (
        np.full(200, 2010)
        if given
        else years[np.asarray(ds.nodes["paper"].to_external(range(200)))]
    )
    loader = gm.NeighborLoader(
        ds,
        [6, 3],
        input_nodes="paper",
        input_time=limits if given else None,
        time_of=None if given else "nodes",
        batch_size=30,
        seed=1,
    )
    num_drawn = 0
    for batch in loader:
        found = years[np.asarray(batch.external_ids["paper"])]
        trees = batch.batch["paper"]
        drawn = slice(batch.num_seeds, None)
        assert (found[drawn] <= limits[batch.input_ids][trees[drawn]]).all()
        num_drawn += len(found[drawn])
    assert num_drawn > 500
    state = loader.state_dict()
    assert state["order"]["time_of"] == "nodes"


def test_whose_times_count_has_to_be_clear(hot, tmp_path):
    with pytest.raises(ValueError, match="time_of='edges' needs time="):
        gm.NeighborLoader(hot, [2], input_nodes="paper", time_of="edges")
    with pytest.raises(errors.MissingDataError, match="have no times of their own"):
        gm.NeighborLoader(hot, [2], input_nodes="paper", time_of="nodes")
    gm.compile_dataset(tmp_path / "one", edges=([0, 1], [1, 0]))
    one = gm.Dataset(tmp_path / "one")
    with pytest.raises(ValueError, match="time_of='nodes' is for datasets of many types"):
        gm.NeighborLoader(one, [2], time_of="nodes")
    with pytest.raises(ValueError, match="needs the time of each seed"):
        gm.NeighborLoader(one, [2], time_of="edges")
