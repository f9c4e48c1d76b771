"""Datasets of many node types, compared with the rows and edges that they were compiled from."""

from __future__ import annotations

import pickle

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphmount as gm
from graphmount.errors import IdError

WRITES = ("author", "writes", "paper")
CITES = ("paper", "cites", "paper")
AT = ("author", "at", "place")


def external_edges(ds, edge_type):
    """All edges of a relation by the ids of the source, with the edge ids."""
    edges = ds.edges[edge_type]
    graph = edges.graph
    source, destination = ds.nodes[edge_type[0]], ds.nodes[edge_type[2]]
    direction = graph.directions[0]
    lists = graph.neighbor_lists(direction)
    owners = np.repeat(np.arange(len(lists.indptr) - 1), np.diff(lists.indptr))
    others = np.asarray(lists.indices, np.int64)
    src, dst = (others, owners) if direction == "in" else (owners, others)
    return list(
        zip(
            list(source.to_external(source.as_internal(src))),
            list(destination.to_external(destination.as_internal(dst))),
            strict=True,
        )
    )


@st.composite
def universes(draw):
    """Types with their ids, relations between them, and rows by id."""
    names = ["author", "paper", "place"]
    kind = draw(st.sampled_from(["dense", "int", "str"]))
    ids = {}
    for name in names:
        count = draw(st.integers(1, 7))
        if kind == "dense":
            ids[name] = list(range(count))
        elif kind == "int":
            some = st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=7, unique=True)
            ids[name] = draw(some)
        else:
            ids[name] = [f"{name}-{draw(st.integers(0, 9))}-{i}" for i in range(count)]
    relations = {}
    for relation in draw(st.sets(st.sampled_from([WRITES, CITES, AT]), min_size=1)):
        ends = st.tuples(st.sampled_from(ids[relation[0]]), st.sampled_from(ids[relation[2]]))
        relations[relation] = draw(st.lists(ends, min_size=1, max_size=25))
    return kind, ids, relations


@settings(max_examples=50, deadline=None)
@given(universe=universes(), data=st.data())
def test_edges_and_rows_by_external_ids(universe, data, tmp_path_factory):
    kind, ids, relations = universe
    folder = tmp_path_factory.mktemp("typed") / "ds"
    order = data.draw(st.sampled_from(["hot", "given"]))
    reverse = data.draw(st.sampled_from([True, False, "merge", list(relations)[:1]]))
    neighbors = data.draw(st.sampled_from(["in", "out", "both"]))
    nodes, values, times = {}, {}, {}
    for name, some in ids.items():
        values[name] = {one: float(i) + 0.5 for i, one in enumerate(some)}
        times[name] = {one: 100 - i for i, one in enumerate(some)}
        nodes[name] = gm.Nodes(
            features={"x": np.array([[v] for v in values[name].values()], np.float32)},
            labels=[i % 3 for i in range(len(some))],
            timestamps=list(times[name].values()),
            splits={"train": some[::2]},
            node_ids=None if kind == "dense" else some,
        )
    edges = {}
    for relation, pairs in relations.items():
        src, dst = zip(*pairs, strict=True)
        if kind == "str":
            edges[relation] = pl.DataFrame({"s": list(src), "d": list(dst)})
        else:
            edges[relation] = (np.array(src, np.int64), np.array(dst, np.int64))
    tables = {
        relation: {"row": np.arange(len(pairs), dtype=np.int64)[:, None]}
        for relation, pairs in relations.items()
    }
    gm.compile_dataset(
        folder,
        nodes=nodes,
        edges=edges,
        edge_features=tables,
        order=order,
        reverse=reverse,
        neighbors=neighbors,
        ids="dense" if kind == "dense" else "map",
    )
    ds = gm.Dataset(folder)
    assert isinstance(ds, gm.TypedDataset)
    assert ds.node_types == tuple(ids)
    expected = expected_relations(relations, reverse)
    assert ds.edge_types == tuple(expected)
    for name, some in ids.items():
        part = ds.nodes[name]
        assert part.num_nodes == len(some)
        inside = part.to_internal(some)
        assert list(part.to_external(inside)) == some
        assert part.features["x"].gather(inside)[:, 0].tolist() == list(values[name].values())
        assert np.asarray(part.timestamps)[inside].tolist() == list(times[name].values())
        assert np.asarray(part.labels)[inside].tolist() == [i % 3 for i in range(len(some))]
        assert list(part.to_external(part.splits["train"])) == some[::2]
        if order == "hot":
            check_hot(ds, name, some, neighbors)
    for relation, pairs in expected.items():
        found = external_edges(ds, relation)
        assert sorted(found) == sorted(pairs)
        stored = ds.edges[relation].features["row"].numpy()[:, 0].tolist()
        original = expected_rows(relation, relations)
        assert all(
            original(row) in (edge, edge[::-1]) for edge, row in zip(found, stored, strict=True)
        )
    assert not gm.verify(folder).problems


def expected_relations(relations, reverse):
    """The relations that a dataset should have, with their edges, in their order."""
    expected = {}
    for relation, pairs in relations.items():
        is_merged = reverse == "merge" and relation[0] == relation[2]
        loops = [pair for pair in pairs if pair[0] != pair[1]] if is_merged else []
        expected[relation] = pairs + [pair[::-1] for pair in loops]
    for relation, pairs in relations.items():
        chosen = reverse in (True, "merge") or (isinstance(reverse, list) and relation in reverse)
        if chosen and not (reverse == "merge" and relation[0] == relation[2]):
            turned = (relation[2], f"rev_{relation[1]}", relation[0])
            expected[turned] = [pair[::-1] for pair in pairs]
    return expected


def expected_rows(relation, relations):
    source, name, destination = relation
    if relation in relations:
        return lambda row: relations[relation][row]
    original = (destination, name.removeprefix("rev_"), source)
    return lambda row: relations[original][row][::-1]


def check_hot(ds, name, some, neighbors):
    """Nodes are in the order of how often they are in the lists that sampling reads."""
    times = dict.fromkeys(some, 0)
    for relation in ds.edge_types:
        for source, destination in external_edges(ds, relation):
            if neighbors != "out" or not ds.edges[relation].graph.directed:
                times[source] = times.get(source, 0) + (relation[0] == name)
            else:
                times[destination] = times.get(destination, 0) + (relation[2] == name)
    part = ds.nodes[name]
    in_order = part.to_external(part.as_internal(np.arange(part.num_nodes)))
    counts = [times[one] for one in in_order]
    assert counts == sorted(counts, reverse=True)


@pytest.fixture
def path(tmp_path):
    gm.compile_dataset(
        tmp_path / "ds",
        nodes={
            "paper": gm.Nodes(num_nodes=3, labels=["b", "a", "b"]),
            "author": gm.Nodes(features={"x": np.eye(3)}),
        },
        edges={WRITES: ([0, 1, 1], [2, 2, 0]), CITES: ([0, 1], [1, 2])},
    )
    return tmp_path / "ds"


def test_same_input_same_bytes(tmp_path):
    for name, reverse in (("a", True), ("b", True)):
        gm.compile_dataset(
            tmp_path / name,
            nodes={"u": gm.Nodes(num_nodes=4), "v": gm.Nodes(num_nodes=4)},
            edges={("u", "to", "v"): ([0, 1, 3], [1, 1, 2])},
            reverse=reverse,
        )
    for file in (tmp_path / "a").rglob("*.g?"):
        other = tmp_path / "b" / file.relative_to(tmp_path / "a")
        assert file.read_bytes() == other.read_bytes()


def test_one_type_stays_what_it_is(tmp_path):
    gm.compile_dataset(tmp_path / "one", edges=([0, 1], [1, 2]))
    assert type(gm.Dataset(tmp_path / "one")) is gm.Dataset
    assert gm.Dataset(tmp_path / "one").description["version"] == 1


def test_ids_carry_their_type(path):
    ds = gm.Dataset(path)
    papers, authors = ds.nodes["paper"], ds.nodes["author"]
    assert papers.num_nodes == authors.num_nodes
    graph = ds.edges[WRITES].graph
    some = papers.to_internal([2])
    assert graph.degree(some).tolist() == [2]
    with pytest.raises(IdError, match="another dataset, or of another version"):
        graph.degree(authors.to_internal([2]))
    with pytest.raises(IdError):
        graph.degree(some, direction="out")
    with pytest.raises(IdError):
        authors.to_external(some)
    with pytest.raises(IdError):
        authors.features["x"].gather(some)
    with pytest.raises(IdError, match="in another order"):
        graph.degree([2])
    found = graph.neighbors(int(some[0]))
    assert sorted(authors.to_external(found).tolist()) == [0, 1]
    assert graph.has_edge(authors.to_internal([1]), papers.to_internal([0])).tolist() == [True]


def test_given_order_takes_plain_integers(tmp_path):
    gm.compile_dataset(
        tmp_path / "ds",
        nodes={"u": gm.Nodes(num_nodes=3, labels=[4, 5, 6]), "v": gm.Nodes(num_nodes=3)},
        edges={("u", "to", "v"): ([0, 2], [1, 1])},
        order="given",
    )
    ds = gm.Dataset(tmp_path / "ds")
    graph = ds.edges["u", "to", "v"].graph
    assert graph.degree([1, 0]).tolist() == [2, 0]
    assert ds.nodes["u"].labels[[2, 0]].tolist() == [6, 4]
    assert ds.nodes["u"].order != ds.nodes["v"].order
    again = pickle.loads(pickle.dumps(graph))  # noqa: S301
    assert again.degree([1, 0]).tolist() == [2, 0]
    with pytest.raises(IdError, match=r"node 3 .* does not exist"):
        ds.nodes["u"].to_internal([3])


def test_names_that_do_not_exist(path):
    ds = gm.Dataset(path)
    with pytest.raises(KeyError, match="no node type 'venue'; there are 'paper', 'author'"):
        ds.nodes["venue"]
    with pytest.raises(KeyError, match="no relation"):
        ds.edges["author", "reads", "paper"]


def test_printing_and_pickling(path):
    ds = gm.Dataset(path)
    assert "2 node types with 6 nodes, 2 relations with 5 edges" in repr(ds)
    assert "paper" in ds._repr_html_()
    assert "writes" in repr(ds.edges[WRITES])
    assert "classes" not in repr(ds.nodes["paper"])
    again = pickle.loads(pickle.dumps(ds))  # noqa: S301
    assert again.node_types == ds.node_types
    assert ds.nodes["paper"].classes == ["a", "b"]
    assert ds.nodes["paper"].num_classes == 2
    with pytest.raises(ValueError, match="'author' has no labels"):
        _ = ds.nodes["author"].num_classes
    assert ds.nodes["author"].labels is None
    assert ds.nodes["author"].timestamps is None


def test_a_pickle_of_another_version(path):
    data = pickle.dumps(gm.Dataset(path))
    gm.compile_dataset(
        path,
        nodes={"u": gm.Nodes(num_nodes=1)},
        edges={("u", "r", "u"): ([0], [0])},
        overwrite=True,
    )
    with pytest.raises(gm.errors.DatasetChangedError, match="has been replaced"):
        pickle.loads(data)  # noqa: S301


def test_replaces_a_dataset_of_either_kind(path):
    gm.compile_dataset(path, edges=([0], [1]), overwrite=True)
    assert type(gm.Dataset(path)) is gm.Dataset
    with pytest.raises(FileExistsError, match="overwrite=True"):
        gm.compile_dataset(path, nodes={"u": gm.Nodes()}, edges={("u", "r", "u"): ([0], [0])})
    gm.compile_dataset(
        path, nodes={"u": gm.Nodes()}, edges={("u", "r", "u"): ([0], [0])}, overwrite=True
    )
    assert gm.Dataset(path).node_types == ("u",)
    assert not list(path.parent.glob(".*"))


def test_replaces_a_type_that_has_no_files(tmp_path):
    given = {
        "nodes": {"u": gm.Nodes(num_nodes=2), "v": gm.Nodes(num_nodes=2)},
        "edges": {("u", "to", "v"): ([0, 1], [1, 1])},
        "order": "given",
    }
    gm.compile_dataset(tmp_path / "ds", **given)
    assert [path.name for path in (tmp_path / "ds").iterdir() if path.is_dir()] == ["edges"]
    gm.compile_dataset(tmp_path / "ds", **given, overwrite=True)
    assert not list(tmp_path.glob(".*"))


def test_ids_of_keys_and_edges(tmp_path):
    """Without node_ids, nodes are what tables and relations name, each type by itself."""
    (tmp_path / "w.csv").write_text("who,what\nann,p1\nbob,p2\nann,p2\n")
    (tmp_path / "x.csv").write_text("id,x\np2,2\np9,9\np1,1\n")
    gm.compile_dataset(
        tmp_path / "ds",
        nodes={
            "paper": gm.Nodes(features={"x": gm.Table(source=tmp_path / "x.csv", key="id")}),
            "author": gm.Nodes(),
        },
        edges={WRITES: gm.EdgeTable(source=tmp_path / "w.csv", header=True)},
        ids="map",
    )
    ds = gm.Dataset(tmp_path / "ds")
    papers = ds.nodes["paper"]
    assert sorted(papers.to_external(papers.as_internal([0, 1, 2]))) == ["p1", "p2", "p9"]
    assert papers.features["x"].gather(papers.to_internal(["p9", "p1"])).reshape(-1).tolist() == [
        9,
        1,
    ]
    assert sorted(external_edges(ds, WRITES)) == [("ann", "p1"), ("ann", "p2"), ("bob", "p2")]
    with pytest.raises(IdError, match="node type 'author': no node has the external id 'p1'"):
        ds.nodes["author"].to_internal(["p1"])


def test_one_end_mapped(tmp_path):
    gm.compile_dataset(
        tmp_path / "ds",
        nodes={"user": gm.Nodes(ids="map"), "item": gm.Nodes(num_nodes=5)},
        edges={("user", "buys", "item"): ([700, 300, 700], [4, 0, 0])},
        order="given",
    )
    ds = gm.Dataset(tmp_path / "ds")
    assert ds.nodes["user"].to_external([0, 1]).tolist() == [700, 300]
    assert ds.nodes["item"].node_id_type is None
    assert external_edges(ds, ("user", "buys", "item")) == [(700, 0), (300, 0), (700, 4)]


def test_within_little_memory(tmp_path):
    rng = np.random.default_rng(0)
    src, dst = rng.integers(0, 50_000, (2, 3_000_000))
    kwargs = {
        "nodes": {"u": gm.Nodes(num_nodes=50_000), "v": gm.Nodes(num_nodes=50_000)},
        "edges": {("u", "to", "v"): (src, dst), ("u", "at", "u"): (src, dst)},
        "reverse": True,
    }
    gm.compile_dataset(tmp_path / "small", memory="64MiB", **kwargs)
    gm.compile_dataset(tmp_path / "large", memory="2GiB", **kwargs)
    for file in (tmp_path / "small").rglob("*.g?"):
        other = tmp_path / "large" / file.relative_to(tmp_path / "small")
        assert file.read_bytes() == other.read_bytes(), file


def test_progress_tells_of_every_part(tmp_path):
    seen = []
    gm.compile_dataset(
        tmp_path / "ds",
        nodes={"u": gm.Nodes(features={"x": np.eye(4)}), "v": gm.Nodes(num_nodes=4)},
        edges={("u", "to", "v"): ([0, 1], [2, 3])},
        reverse=True,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen[-1] == (1000, 1000)
    assert seen == sorted(seen)


def test_skips_what_cannot_be_used(tmp_path):
    done = gm.compile_dataset(
        tmp_path / "ds",
        nodes={"u": gm.Nodes(num_nodes=2), "v": gm.Nodes(num_nodes=4)},
        edges={("u", "to", "v"): ([0, 1, 3, 1], [2, 9, 3, 3])},
        reverse=True,
        on_error="skip",
        order="given",
    )
    assert done.skipped == 2
    ds = gm.Dataset(tmp_path / "ds")
    assert external_edges(ds, ("u", "to", "v")) == [(0, 2), (1, 3)]
    assert external_edges(ds, ("v", "rev_to", "u")) == [(2, 0), (3, 1)]


YEARS = [2001, 1969, 2020]
SECONDS = [978307200, -31536000, 1577836800]


def times_of(folder, source, **options):
    gm.compile_dataset(
        folder,
        nodes={"u": gm.Nodes(timestamps=gm.Table(source=source, **options))},
        edges={("u", "to", "u"): ([0, 1], [2, 2])},
        order="given",
        overwrite=True,
    )
    return gm.Dataset(folder).nodes["u"].timestamps.tolist()


def test_dates_become_seconds(tmp_path):
    """As the times of edges do, from every kind of source that has dates."""
    dates = np.array([f"{year}-01-01" for year in YEARS], "datetime64[D]")
    assert times_of(tmp_path / "ds", dates) == SECONDS
    assert times_of(tmp_path / "ds", dates.astype("datetime64[ns]")) == SECONDS
    frame = pl.DataFrame({"name": ["a", "b", "c"], "born": dates, "n": YEARS})
    for one in (frame, frame.with_columns(pl.col("born").cast(pl.Datetime("us")))):
        one.write_parquet(tmp_path / "t.parquet")
        for source in (one, tmp_path / "t.parquet"):
            assert times_of(tmp_path / "ds", source, columns=["born"]) == SECONDS
    assert times_of(tmp_path / "ds", frame, columns=["n"]) == YEARS
    (tmp_path / "t.csv").write_text("born,n\n2001-01-01,1\n1969-01-01T00:00:00Z,2\n2020-01-01,3\n")
    assert times_of(tmp_path / "ds", tmp_path / "t.csv", columns=["born"]) == SECONDS
    assert times_of(tmp_path / "ds", tmp_path / "t.csv", columns=["n"]) == [1, 2, 3]
    (tmp_path / "k.csv").write_text("id,born\n2,2020-01-01\n0,2001-01-01\n1,1969-01-01\n")
    found = times_of(tmp_path / "ds", tmp_path / "k.csv", key="id", columns=["born"])
    assert found == SECONDS
    ds = gm.Dataset(tmp_path / "ds").nodes["u"].set_timestamps(dates)
    assert ds.nodes["u"].timestamps.tolist() == SECONDS


def test_dates_that_are_missing_or_features(tmp_path):
    frame = pl.DataFrame({"born": pl.Series([None, 1, 2]).cast(pl.Date)})
    with pytest.raises(gm.errors.SourceError, match=r"node type 'u': .*'born'.*missing \(null\)"):
        times_of(tmp_path / "ds", frame)
    with pytest.raises(gm.errors.SourceError, match="features are numbers"):
        gm.compile_dataset(
            tmp_path / "ds",
            nodes={"u": gm.Nodes(features={"x": frame})},
            edges={("u", "to", "u"): ([0], [1])},
        )
    nothing = np.array(["2001-01-01", "NaT", "2001-01-01"], "datetime64[s]")
    with pytest.raises(gm.errors.SourceError, match=r"row 1: the time is missing \(NaT\)"):
        times_of(tmp_path / "ds", nothing)
