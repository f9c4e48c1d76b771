"""compile_dataset from end to end, against a twin made of Python lists and dicts.

The twin knows nothing of new numbers: everything is asked for by what the source calls a node, so
that a row, label or edge that follows the wrong node is found, whatever the order.
"""

from __future__ import annotations

import gzip
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import graphmount as gm


@dataclass
class Twin:
    """A graph and its tables, by the position of a node in the source."""

    num_nodes: int
    names: list  # what the source calls each node
    edges: list  # pairs of positions
    directed: bool
    neighbors: str
    dedup: bool
    self_loops: str
    x: np.ndarray
    labels: np.ndarray
    order: list = field(default_factory=list)  # positions, as nodes first appear

    def entries(self, *, dedup=None):
        """(owner, neighbor, row) of the lists that sampling reads."""
        found = []
        for row, (src, dst) in enumerate(self.edges):
            if src == dst and self.self_loops == "drop":
                continue
            # Where only out-lists are kept, sampling reads these.
            owner, other = (src, dst) if self.neighbors == "out" else (dst, src)
            found.append((owner, other, row))
            if not self.directed and src != dst:
                found.append((other, owner, row))
        if self.dedup if dedup is None else dedup:
            first = {}
            for owner, other, row in found:
                first.setdefault((owner, other), (owner, other, row))
            found = list(first.values())
        return found

    def hot(self):
        """Positions by appearances before dedup, then by when they first appear."""
        counts = Counter(other for _, other, _ in self.entries(dedup=False))
        return sorted(self.order, key=lambda node: (-counts[node], self.order.index(node)))


@st.composite
def twins(draw):
    num_nodes = draw(st.integers(1, 10))
    node = st.integers(0, num_nodes - 1)
    if draw(st.booleans()):
        # Strongly asymmetric: few sources, many destinations, or the other way round.
        few = st.integers(0, max(0, num_nodes // 3 - 1))
        edge = draw(st.sampled_from([st.tuples(few, node), st.tuples(node, few)]))
    else:
        edge = st.tuples(node, node)
    kind = draw(st.sampled_from(["position", "int", "str"]))
    places = draw(st.permutations(range(num_nodes)))
    names = {
        "position": list(range(num_nodes)),
        "int": [place * 7 - 20 for place in places],
        "str": [f"n{'é' * (place % 3)}{place}" for place in places],
    }[kind]
    return Twin(
        num_nodes=num_nodes,
        names=names,
        edges=draw(st.lists(edge, min_size=1, max_size=30)),
        directed=draw(st.booleans()),
        neighbors=draw(st.sampled_from(["both", "in", "out"])),
        dedup=draw(st.booleans()),
        self_loops=draw(st.sampled_from(["keep", "drop"])),
        x=np.arange(num_nodes * 3, dtype=np.float32).reshape(num_nodes, 3) + 1,
        labels=np.array([place * 11 for place in places]),
        order=list(range(num_nodes)),
    )


def write_edges(twin, path, *, by_name):
    """A CSV, which is the one kind of source that has strings without any library."""
    value = (lambda i: twin.names[i]) if by_name else (lambda i: i)
    path.write_text("".join(f"{value(src)},{value(dst)}\n" for src, dst in twin.edges))
    return gm.EdgeTable(source=path, header=False, delimiter=",")


def check(twin, ds, *, order, scores=None):
    names = ds.to_external(range(twin.num_nodes))
    position = {name: place for place, name in enumerate(twin.names)}
    found = [position[name] for name in names]  # the position of each node of the dataset
    expected = {
        "hot": twin.hot,
        "given": lambda: twin.order,
        "scores": lambda: sorted(twin.order, key=lambda i: (-scores[i], i)),
    }[order]()
    assert found == expected
    assert ds.to_internal(names).tolist() == list(range(twin.num_nodes))

    assert (ds.features["x"].numpy() == twin.x[found]).all()
    assert (ds.labels == twin.labels[found]).all()

    direction = "out" if twin.neighbors == "out" else "in"
    lists = ds.graph.neighbor_lists(direction)
    listed = [
        (found[owner], found[other])
        for owner in range(twin.num_nodes)
        for other in lists.indices[lists.indptr[owner] : lists.indptr[owner + 1]]
    ]
    entries = twin.entries()
    assert sorted(listed) == sorted((owner, other) for owner, other, _ in entries)
    assert ds.num_edges == len(entries)
    assert ds.graph.directed == twin.directed
    # The weight of an edge is the number of its row in the source.
    weights = ds.edge_features["row"].numpy().tolist()
    assert sorted((*pair, row) for pair, row in zip(listed, weights, strict=True)) == sorted(
        entries
    )


def check_files(ds):
    """All files are fine, and those of nodes have the fingerprint of the graph."""
    gm.check_order(ds.graph, *ds.features.values())
    for file in (ds.graph, *ds.features.values(), *ds.edge_features.values()):
        assert gm.verify(file.path).ok


@settings(max_examples=settings().max_examples // 2)
@given(twin=twins(), data=st.data())
def test_nodes_in_the_order_of_the_source(twin, data, tmp_path):
    """Numbers as they are, or node_ids=, with tables that have no keys, or some."""
    by_name = twin.names != list(range(twin.num_nodes)) and data.draw(st.booleans())
    order = data.draw(st.sampled_from(["hot", "given", "scores"]))
    scores = np.array(data.draw(st.permutations(range(twin.num_nodes)))) // 2
    mask = np.array(
        data.draw(st.lists(st.booleans(), min_size=twin.num_nodes, max_size=twin.num_nodes))
    )
    some = data.draw(st.lists(st.integers(0, twin.num_nodes - 1), max_size=5))
    shuffled = data.draw(st.permutations(range(twin.num_nodes)))
    features = twin.x
    if data.draw(st.booleans()):
        keys = [twin.names[i] for i in shuffled]
        features = gm.Table(source=twin.x[shuffled], key=keys)
    edges = write_edges(twin, tmp_path / "edges.csv", by_name=by_name)
    done = gm.compile_dataset(
        tmp_path / "ds",
        edges=edges
        if data.draw(st.booleans()) or by_name
        else tuple(zip(*twin.edges, strict=True)),
        ids="map" if by_name else "dense",
        key_type=None if not by_name else type(twin.names[0]).__name__,
        node_ids=None if twin.names == list(range(twin.num_nodes)) else twin.names,
        features={"x": features},
        labels=twin.labels,
        splits={"mask": mask, "ids": [twin.names[i] for i in some], "none": []},
        edge_features={"row": np.arange(len(twin.edges))},
        order=scores if order == "scores" else order,
        directed=twin.directed,
        neighbors=twin.neighbors,
        num_nodes=twin.num_nodes,  # a table whose rows have keys does not say
        dedup=twin.dedup,
        self_loops=twin.self_loops,
        overwrite=True,
    )
    ds = gm.Dataset(done.path)
    check(twin, ds, order=order, scores=scores)
    check_files(ds)
    masked = [name for name, there in zip(twin.names, mask, strict=True) if there]
    assert list(ds.to_external(ds.splits["mask"])) == masked
    assert list(ds.to_external(ds.splits["ids"])) == [twin.names[i] for i in some]
    assert ds.splits["none"].tolist() == []


@settings(max_examples=settings().max_examples // 2)
@given(twin=twins(), data=st.data())
def test_nodes_as_they_appear(twin, data, tmp_path):
    """ids="map": keys of the tables come first, in their order, then the ends of edges."""
    order = data.draw(st.sampled_from(["hot", "given"]))
    kind = type(twin.names[0])
    with_row = data.draw(st.lists(st.sampled_from(range(twin.num_nodes)), unique=True, min_size=1))
    with_label = data.draw(
        st.lists(st.sampled_from(range(twin.num_nodes)), unique=True, min_size=1)
    )
    ends = [end for edge in twin.edges for end in edge]
    twin.order = list(dict.fromkeys(with_row + with_label + ends))
    # Nodes that nobody names are not there; those without a row have -1.
    missing = sorted(set(range(twin.num_nodes)) - set(with_row))
    twin.x[missing] = -1
    twin.labels[sorted(set(range(twin.num_nodes)) - set(with_label))] = -2
    twin.num_nodes = len(twin.order)
    splits = data.draw(st.lists(st.sampled_from(twin.order), max_size=5))
    text = "".join(f"{twin.names[i]},{twin.labels[i]}\n" for i in with_label)
    (tmp_path / "labels.csv").write_text("id,label\n" + text)
    done = gm.compile_dataset(
        tmp_path / "ds",
        edges=write_edges(twin, tmp_path / "edges.csv", by_name=True),
        ids="map",
        key_type=kind.__name__,
        features={
            "x": gm.Table(
                source=twin.x[with_row], key=[twin.names[i] for i in with_row], missing=-1
            )
        },
        labels=gm.Table(source=tmp_path / "labels.csv", key="id", dtype="int64", missing=-2),
        splits={"train": [twin.names[i] for i in splits]},
        edge_features={"row": np.arange(len(twin.edges))},
        order=order,
        directed=twin.directed,
        neighbors=twin.neighbors,
        dedup=twin.dedup,
        self_loops=twin.self_loops,
        overwrite=True,
    )
    ds = gm.Dataset(done.path)
    assert (done.num_nodes, done.num_edges) == (ds.num_nodes, ds.num_edges)
    check(twin, ds, order=order)
    check_files(ds)
    assert list(ds.to_external(ds.splits["train"])) == [twin.names[i] for i in splits]


def test_splits_from_files(tmp_path):
    nodes = np.array([4, 0, 3, 3])
    np.save(tmp_path / "train.npy", nodes.astype(np.int32))
    np.save(tmp_path / "mask.npy", np.isin(np.arange(6), nodes))
    with gzip.open(tmp_path / "valid.csv.gz", "wt") as file:
        file.write("4\n0\n3\n3\n")
    (tmp_path / "test.txt").write_text("node\n4\n0\n3\n3\n")
    (tmp_path / "empty.csv").write_text("")
    np.save(tmp_path / "none.npy", np.empty(0, np.int64))
    names = ["train.npy", "mask.npy", "valid.csv.gz", "test.txt", "none.npy"]
    gm.compile_dataset(
        tmp_path / "ds",
        edges=([5, 5, 5, 4, 4, 3], [0, 1, 2, 3, 0, 1]),
        splits={name.split(".")[0]: tmp_path / name for name in names},
    )
    ds = gm.Dataset(tmp_path / "ds")
    for name in ("train", "valid", "test"):
        assert ds.to_external(ds.splits[name]).tolist() == [4, 0, 3, 3]
    assert sorted(ds.to_external(ds.splits["mask"])) == [0, 3, 4]
    assert ds.splits["none"].tolist() == []
    assert not ds.splits["train"].flags.writeable


def test_large_ids_of_a_split_are_exact(tmp_path):
    """float32 ends at 2**24."""
    (tmp_path / "train.csv").write_text("16777217\n")
    source = ([16777217, 16777216], [16777216, 16777217])
    gm.compile_dataset(
        tmp_path / "ds", edges=source, ids="map", splits={"train": tmp_path / "train.csv"}
    )
    ds = gm.Dataset(tmp_path / "ds")
    assert ds.to_external(ds.splits["train"]).tolist() == [16777217]


def test_num_nodes_is_that_of_the_tables(tmp_path):
    """So that nodes without edges after the last one with edges are there, too."""
    x = np.arange(9.0)
    gm.compile_dataset(tmp_path / "ds", edges=([1, 1], [0, 2]), features={"x": x}, labels=x * 2)
    ds = gm.Dataset(tmp_path / "ds")
    assert ds.num_nodes == 9
    assert ds.to_external(range(9)).tolist() == [1, 0, 2, 3, 4, 5, 6, 7, 8]
    assert ds.features["x"].numpy().tolist() == ds.to_external(range(9)).tolist()
    assert ds.labels.tolist() == [2 * i for i in ds.to_external(range(9))]
    assert ds.graph.degree(ds.to_internal([8]), direction="in").tolist() == [0]


def test_labels_of_one_column_are_a_vector(tmp_path):
    """As OGB has them for papers100M, and torch does not want them."""
    gm.compile_dataset(tmp_path / "ds", edges=([0], [1]), labels=[[3], [4]])
    assert gm.Dataset(tmp_path / "ds").labels.tolist() == [3, 4]
    gm.compile_dataset(tmp_path / "two", edges=([0], [1]), labels=[[3, 0], [4, 1]])
    assert gm.Dataset(tmp_path / "two").labels.tolist() == [[3, 0], [4, 1]]
    gm.compile_dataset(tmp_path / "no", edges=([0], [1]))
    assert gm.Dataset(tmp_path / "no").labels is None


def test_options_of_tables(tmp_path):
    """Table and EdgeTable have what compile_features and compile_graph have."""
    (tmp_path / "e.txt").write_text("! a comment\n5;0;1;9\n7;1;2;8\n")
    np.array([[1, 2], [3, 4], [5, 6]], np.int16).tofile(tmp_path / "x.bin")
    np.savez(tmp_path / "y.npz", a=[1.0, np.nan, 3.0], b=[0])
    (tmp_path / "z.csv").write_text("k,p,q\n2,1,-2\n0,3,127\n2,5,6\n")
    edges = gm.EdgeTable(
        source=tmp_path / "e.txt",
        columns=(1, 2),
        weights=0,
        timestamps=3,
        delimiter=";",
        header=False,
        comments="!",
    )
    gm.compile_dataset(
        tmp_path / "ds",
        edges=edges,
        order="given",
        features={
            "x": gm.Table(source=tmp_path / "x.bin", shape=(3, 2), source_dtype="int16"),
            "y": gm.Table(source=tmp_path / "y.npz", member="a", dtype="float16", nan=0),
            "z": gm.Table(
                source=tmp_path / "z.csv",
                key="k",
                columns=["q"],
                repeated="last",
                missing=0,
                quantize="column",
            ),
        },
    )
    ds = gm.Dataset(tmp_path / "ds")
    assert ds.graph.neighbor_lists("in").weights.tolist() == [5, 7]
    assert ds.graph.neighbor_lists("in").timestamps.tolist() == [9, 8]
    assert ds.features["x"].numpy().tolist() == [[1, 2], [3, 4], [5, 6]]
    assert ds.features["y"].numpy().tolist() == [1, 0, 3]
    assert ds.features["z"].numpy().ravel().tolist() == [127, 0, 6]
    assert ds.features["z"].scales.tolist() == [1.0]
