"""What a dataset of many node types cannot be made of, and folders that are none: named errors."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from forge import HEADER, Forgery

import graphmount as gm
from graphmount.errors import (
    BudgetError,
    DatasetChangedError,
    FormatError,
    OrderError,
    SourceError,
)

HEADER |= {"num_sources": (72, "Q"), "source_order": (80, "Q")}

U_TO_V = ("u", "to", "v")
EDGES = ([0, 1, 1], [2, 2, 0])
NODES = {"u": gm.Nodes(num_nodes=3), "v": gm.Nodes(num_nodes=3)}


def nodes(**options):
    """Two types; options of the first."""
    return {"u": gm.Nodes(**options), "v": gm.Nodes(num_nodes=3)}


BAD = {
    "no dict of nodes": ({"nodes": [1]}, TypeError, "nodes= is a dict"),
    "no nodes": ({"nodes": {}}, ValueError, "at least one node type"),
    "no Nodes": ({"nodes": {"u": 3, "v": 4}}, TypeError, "node type 'u': .*gm.Nodes"),
    "no dict of edges": ({"edges": EDGES}, TypeError, "edges= is a dict of edges by relation"),
    "no relation": ({"edges": {"u-v": EDGES}}, TypeError, "'u-v' is no relation"),
    "a relation of two": ({"edges": {("u", "v"): EDGES}}, TypeError, "is no relation"),
    "an unknown type": (
        {"edges": {("u", "to", "w"): EDGES}},
        ValueError,
        "has the node type 'w', which nodes= has not; there are 'u', 'v'",
    ),
    "a relation that is no text": ({"edges": {("u", 3, "v"): EDGES}}, ValueError, "is no text"),
    "an unknown reverse": (
        {"reverse": [("u", "from", "v")]},
        ValueError,
        "reverse: there is no relation",
    ),
    "a reverse that is none": ({"reverse": "yes"}, ValueError, "reverse='yes'; it is True"),
    "two relations of one name": (
        {"edges": {U_TO_V: EDGES, ("v", "rev_to", "u"): EDGES}, "reverse": True},
        ValueError,
        "would make .*'rev_to'.* which edges= has already",
    ),
    "an order by scores": ({"order": [1, 2, 3]}, ValueError, "order"),
    "features of one type": ({"features": {"x": np.eye(3)}}, ValueError, "features= does not go"),
    "undirected": ({"directed": False}, ValueError, "reverse='merge'"),
    "too many nodes": (
        {"nodes": nodes(num_nodes=1)},
        SourceError,
        r"relation \('u', 'to', 'v'\): .*source id 1 is not below num_sources=1",
    ),
    "an id that is in no table": (
        {"nodes": nodes(node_ids=["a", "b"], ids="map")},
        SourceError,
        "ids of node type 'u' are integers in .*, and text elsewhere",
    ),
    "an id that is not among those given": (
        {"nodes": nodes(node_ids=[0, 7], ids="map")},
        SourceError,
        "edge 1: 1 is not among the node_ids of type 'u'",
    ),
    "too few rows": (
        {"nodes": nodes(num_nodes=3, features={"x": np.eye(2)})},
        OrderError,
        "node type 'u': the tables of nodes have 2 rows, but there are 3 nodes",
    ),
    "tables that disagree": (
        {"nodes": nodes(labels=[1, 2], features={"x": np.eye(3)})},
        OrderError,
        "node type 'u': .*has 3 rows",
    ),
    "times with fractions": ({"nodes": nodes(timestamps=[0.5, 1, 2])}, SourceError, "integers"),
    "times in two columns": (
        {"nodes": nodes(timestamps=np.zeros((3, 2), np.int64))},
        SourceError,
        "one column, not 2",
    ),
    "too few times": ({"nodes": nodes(num_nodes=3, timestamps=[1])}, OrderError, "1 rows"),
    "a split that is none": (
        {"nodes": nodes(num_nodes=3, splits={"train": [7]})},
        SourceError,
        "node type 'u': split 'train': node 7",
    ),
    "a mask that is too short": (
        {"nodes": nodes(num_nodes=3, splits={"train": np.array([True])})},
        SourceError,
        "node type 'u': split 'train': a mask",
    ),
    "a name that is a path": (
        {"nodes": nodes(num_nodes=3, features={"../x": np.eye(3)})},
        ValueError,
        "node type 'u': .*cannot be the name of a file",
    ),
    "a table of no relation": (
        {"edge_features": {("u", "from", "v"): {"w": np.eye(3)}}},
        ValueError,
        "edge_features: edges= has no relation",
    ),
    "too few rows of edges": (
        {"edge_features": {U_TO_V: {"w": np.eye(2)}}},
        OrderError,
        r"relation \('u', 'to', 'v'\): .*2 rows",
    ),
    "num_nodes of mapped ids": (
        {"nodes": nodes(num_nodes=3, ids="map")},
        ValueError,
        "node type 'u': num_nodes= does not go with ids='map'",
    ),
    "a type that nobody knows": (
        {"nodes": NODES | {"w": gm.Nodes()}},
        SourceError,
        "node type 'w' has no tables, and no edges name its nodes",
    ),
    "an enormous id": (
        {"nodes": nodes(), "edges": {U_TO_V: ([0, 2**40], [0, 1])}},
        SourceError,
        "would make .* nodes of type 'u'",
    ),
    "twice the same id": (
        {"nodes": nodes(node_ids=["a", "b", "a"])},
        SourceError,
        "node type 'u': .*'a'",
    ),
    "types that differ in case": (
        {"nodes": NODES | {"U": gm.Nodes(num_nodes=3)}},
        ValueError,
        "nodes: 'u' and 'U' differ only in upper and lower case",
    ),
    "relations that differ in case": (
        {"edges": {U_TO_V: EDGES, ("u", "TO", "v"): EDGES}},
        ValueError,
        r"edges: \('u', 'to', 'v'\) and \('u', 'TO', 'v'\) differ only in upper and lower",
    ),
    "an end in a type without nodes": (
        {"nodes": nodes(num_nodes=0)},
        SourceError,
        r"relation \('u', 'to', 'v'\): .*source id 0 is not below num_sources=0",
    ),
    "a key of no node": (
        {"nodes": nodes(num_nodes=3, features={"x": gm.Table(source=[1.0], key=[7], missing=0)})},
        SourceError,
        "node type 'u': .*row 0: no node of node type 'u' has the external id 7",
    ),
    "a node without a row": (
        {"nodes": nodes(num_nodes=3, features={"x": gm.Table(source=[1.0], key=[1])})},
        SourceError,
        "node type 'u': .*2 of 3 nodes have no row",
    ),
    "notes": ({"notes": [3]}, TypeError, "notes"),
    "a source that does not exist": (
        {"edges": {U_TO_V: "nowhere.csv"}},
        OSError,
        "nowhere.csv",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case, tmp_path):
    changes, error, message = BAD[case]
    given = {"nodes": NODES, "edges": {U_TO_V: EDGES}} | changes
    with pytest.raises(error, match=message):
        gm.compile_dataset(tmp_path / "ds", **given)
    assert list(tmp_path.iterdir()) == []


def test_ends_that_disagree_in_count(tmp_path):
    """Graph files say how many nodes they have of each type; others have a largest id."""
    gm.compile_graph(([0, 2], [1, 3]), tmp_path / "three.gl", num_sources=3, num_destinations=4)
    gm.compile_graph(([0, 2], [1, 3]), tmp_path / "six.gl", num_sources=6, num_destinations=4)
    three, six = tmp_path / "three.gl", tmp_path / "six.gl"
    unknown = {"u": gm.Nodes(), "v": gm.Nodes()}
    other, out = ("u", "of", "v"), tmp_path / "ds"
    with pytest.raises(
        SourceError, match=r"six\.gl says that there are 6 nodes .*three\.gl says 3"
    ):
        gm.compile_dataset(out, nodes=unknown, edges={U_TO_V: three, other: six})
    for edges in ({U_TO_V: three, other: ([4], [0])}, {other: ([4], [0]), U_TO_V: three}):
        with pytest.raises(SourceError, match=r"has node 4 of type 'u', and .*three\.gl says"):
            gm.compile_dataset(out, nodes=unknown, edges=edges)
    known = {"u": gm.Nodes(num_nodes=3), "v": gm.Nodes(num_nodes=4)}
    with pytest.raises(SourceError, match=r"three\.gl says that it has 4 nodes of type 'u', and"):
        gm.compile_dataset(out, nodes=known, edges={("v", "to", "u"): three})
    assert not out.exists()
    said = {"u": gm.Nodes(num_nodes=6), "v": gm.Nodes()}
    gm.compile_dataset(out, nodes=said, edges={U_TO_V: three, other: six})
    assert [one.num_nodes for one in gm.Dataset(out).nodes.values()] == [6, 4]
    gm.compile_dataset(out, nodes=unknown, edges={U_TO_V: three, other: ([1], [0])}, overwrite=True)
    assert [one.num_nodes for one in gm.Dataset(out).nodes.values()] == [3, 4]


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "a/b",
        "/",
        "a\\b",
        "a\0b",
        "a\nb",
        "u__v",
        ".hidden",
        "a:b",
        "a ",
        "é" * 60,
        3,
    ],
)
def test_bad_names(name, tmp_path):
    with pytest.raises(ValueError, match="cannot be a node type"):
        gm.compile_dataset(
            tmp_path / "ds", nodes={name: gm.Nodes(num_nodes=3)}, edges={(name, "r", name): EDGES}
        )
    with pytest.raises(ValueError, match="edges: "):
        gm.compile_dataset(tmp_path / "ds", nodes=NODES, edges={("u", name, "v"): EDGES})
    assert list(tmp_path.iterdir()) == []


def test_good_names(tmp_path):
    for name in ("é", "a.b", "a b", "_x", "x-1", "论文"):
        path = tmp_path / f"ds {name}"
        gm.compile_dataset(
            path, nodes={name: gm.Nodes(num_nodes=3)}, edges={(name, name, name): EDGES}
        )
        assert gm.Dataset(path).node_types == (name,)


def test_reverse_needs_types(tmp_path):
    with pytest.raises(ValueError, match="many node types"):
        gm.compile_dataset(tmp_path / "ds", edges=EDGES, reverse=True)


def test_text_ids_without_a_map(tmp_path):
    (tmp_path / "e.csv").write_text("a,b\nc,d\n")
    with pytest.raises(SourceError):
        gm.compile_dataset(
            tmp_path / "ds", nodes=NODES, edges={U_TO_V: gm.EdgeTable(source=tmp_path / "e.csv")}
        )


def test_maps_have_a_budget(tmp_path):
    rng = np.random.default_rng(0)
    ids = rng.integers(0, 2**60, 1_500_000)
    with pytest.raises(BudgetError, match="map"):
        gm.compile_dataset(
            tmp_path / "ds",
            nodes={"u": gm.Nodes(), "v": gm.Nodes()},
            edges={U_TO_V: (ids, ids)},
            ids="map",
            memory="64MiB",
        )
    assert list(tmp_path.iterdir()) == []


def test_sources_in_the_folder_that_is_replaced(tmp_path):
    gm.compile_dataset(
        tmp_path / "ds", nodes=nodes(features={"x": np.eye(3)}), edges={U_TO_V: EDGES}
    )
    inside = tmp_path / "ds" / "nodes" / "u" / "features" / "x.gd"
    with pytest.raises(ValueError, match="one of its own sources"):
        gm.compile_dataset(
            tmp_path / "ds",
            nodes=nodes(features={"x": inside}),
            edges={U_TO_V: EDGES},
            overwrite=True,
        )


@pytest.fixture
def path(tmp_path):
    gm.compile_dataset(
        tmp_path / "ds",
        nodes={
            name: gm.Nodes(
                features={"x": np.full((3, 2), float(i))},
                labels=["p", "q", "p"],
                splits={"train": [1]},
                timestamps=[1, 2, 3],
            )
            for i, name in enumerate(("u", "v"))
        },
        edges={U_TO_V: EDGES, ("u", "at", "u"): EDGES},
        edge_features={U_TO_V: {"w": np.eye(3)}},
        order="given",
    )
    return tmp_path / "ds"


def change(path, edit=None, *, without_list=True):
    """Rewrites the description; without the list of files, unless the list is to speak."""
    file = path / "dataset.json"
    description = json.loads(file.read_text())
    if without_list:
        description.pop("files")
    if edit is not None:
        edit(description)
    file.write_text(json.dumps(description))


def swap_files(path, one, two):
    a, b = path / one, path / two
    first, second = a.read_bytes(), b.read_bytes()
    a.write_bytes(second)
    b.write_bytes(first)


@pytest.mark.parametrize("file", ["features/x.gd", "labels.gd", "timestamps.gd"])
def test_types_of_equal_count_cannot_be_swapped(file, path):
    swap_files(path, f"nodes/u/{file}", f"nodes/v/{file}")
    with pytest.raises(DatasetChangedError):
        gm.Dataset(path)
    change(path)
    with pytest.raises(OrderError, match="in the order of other nodes"):
        gm.Dataset(path)
    assert len(gm.verify(path).problems) == 2


def test_types_cannot_be_renamed(path):
    def rename(description):
        types = description["node_types"]
        types["u"], types["v"] = types["v"], types["u"]

    change(path, rename)
    with pytest.raises(OrderError):
        gm.Dataset(path)
    assert gm.verify(path).problems


def test_a_relation_turned_round(path):
    def turn(description):
        description["edge_types"][0]["relation"] = ["v", "to", "u"]

    change(path, turn)
    with pytest.raises(OrderError, match="in the order of other nodes"):
        gm.Dataset(path)


def test_a_relation_of_another_dataset(path, tmp_path):
    gm.compile_dataset(tmp_path / "other", nodes=NODES, edges={U_TO_V: EDGES})
    file = "edges/u/to/v/graph.gl"
    shutil.copy(tmp_path / "other" / file, path / file)
    with pytest.raises(DatasetChangedError):
        gm.Dataset(path)
    change(path)
    with pytest.raises(OrderError, match=r"'to', 'v'\), has .* in the order of other nodes"):
        gm.Dataset(path)


def test_a_graph_of_one_type_for_a_relation_of_two(path):
    shutil.copy(path / "edges/u/at/u/graph.gl", path / "edges/u/to/v/graph.gl")
    change(path)
    with pytest.raises(OrderError, match="is a graph of one node type, and the relation is not"):
        gm.Dataset(path)


@pytest.mark.parametrize(
    "file", ["edges/u/to/v/graph.gl", "nodes/u/features/x.gd", "edges/u/to/v/features/w.gd"]
)
def test_a_missing_file(file, path):
    (path / file).unlink()
    with pytest.raises(FileNotFoundError, match=file.rpartition("/")[2]):
        gm.Dataset(path)
    assert gm.verify(path).problems[0].file == file


def test_a_missing_file_of_ids(tmp_path):
    gm.compile_dataset(tmp_path / "ds", nodes=NODES, edges={U_TO_V: EDGES})
    ids = tmp_path / "ds" / "nodes" / "u" / "ids.gi"
    assert gm.verify(ids).kind == "node ids"
    with pytest.raises(FormatError, match="a file of node ids"):
        gm.Graph(ids)
    ids.unlink()
    with pytest.raises(FileNotFoundError, match=r"ids\.gi"):
        gm.Dataset(tmp_path / "ds")


def test_damaged_ids(tmp_path):
    gm.compile_dataset(tmp_path / "ds", nodes=NODES, edges={U_TO_V: EDGES})
    ids = tmp_path / "ds" / "nodes" / "u" / "ids.gi"
    good = ids.read_bytes()
    for changes, message in (
        ({"flags": 1}, "flags of another kind"),
        ({"num_rows": 4}, "wrong size or dtype"),
        ({"num_sections": 1}, "no section of checksums"),
    ):
        forgery = Forgery(ids)
        forgery.set_header(**changes)
        forgery.save()
        with pytest.raises(FormatError, match=message):
            gm.Dataset(tmp_path / "ds")
        ids.write_bytes(good)
    forgery = Forgery(ids)
    forgery.set_item(forgery.find("node_ids"), 0, 0)  # two nodes of one id
    forgery.repair_chunks()
    forgery.save()
    assert not gm.verify(ids).ok
    assert not gm.verify(tmp_path / "ds").ok


EDITS = {
    "no relation": (lambda d: d["edge_types"][0].update(relation=["u", "v"]), "is no relation"),
    "an unknown type": (lambda d: d["node_types"].pop("v"), "'v' in 'edge_types' is no node type"),
    "a type that is a path": (
        lambda d: d["node_types"].update({"../w": d["node_types"]["u"]}),
        "node type '../w'",
    ),
    "a file outside": (lambda d: d["node_types"]["u"].update(ids="../ids.gi"), "is no file of"),
    "twice the same": (lambda d: d["edge_types"].append(d["edge_types"][0]), "is there twice"),
    "a wrong order": (lambda d: d["node_types"]["u"].update(order="x"), "'order' of a node type"),
    "a count": (lambda d: d["node_types"]["u"].update(num_nodes=-1), "no number of things"),
    "edges": (lambda d: d.update(edge_types={}), "'edge_types' is wrong"),
    "an entry": (lambda d: d["edge_types"].append(3), "an entry of 'edge_types' is wrong"),
    "a type": (lambda d: d["node_types"].update(u=3), "node type 'u' is wrong"),
    "a missing field": (lambda d: d["node_types"]["u"].pop("labels"), "'labels' is missing"),
    "a version": (lambda d: d.update(version=3), "of version 3, .* reads versions 1 and 2"),
    "no types": (lambda d: d.update(node_types=None), "'node_types' is wrong"),
}


@pytest.mark.parametrize("case", EDITS)
def test_descriptions_that_are_wrong(case, path):
    edit, message = EDITS[case]
    change(path, edit)
    with pytest.raises(FormatError, match=message):
        gm.Dataset(path)


def test_counts_that_disagree(path):
    change(path, lambda d: d["node_types"]["v"].update(num_nodes=4))
    with pytest.raises(OrderError, match="there are 4 nodes of type 'v'"):
        gm.Dataset(path)
    change(path, lambda d: d["node_types"]["v"].update(num_nodes=3), without_list=False)
    change(path, lambda d: d["edge_types"][0].update(num_edges=4), without_list=False)
    with pytest.raises(OrderError, match="has 3 edges instead of 4"):
        gm.Dataset(path)


def test_advice_about_ids_and_counts(tmp_path):
    (tmp_path / "names.csv").write_text("ann,1\nbob,2\n")
    (tmp_path / "numbers.csv").write_text("1,2\n2,1\n")
    given = {
        "nodes": {"u": gm.Nodes(), "v": gm.Nodes()},
        "edges": {
            U_TO_V: gm.EdgeTable(source=tmp_path / "names.csv", header=False),
            ("v", "at", "v"): tmp_path / "numbers.csv",
        },
        "ids": "map",
    }
    with pytest.raises(SourceError, match="pass key_type='str' to read text files so"):
        gm.compile_dataset(tmp_path / "ds", **given)
    gm.compile_dataset(tmp_path / "ds", **given, key_type="str")
    assert gm.Dataset(tmp_path / "ds").nodes["v"].num_nodes == 2
    given = {"edges": {("u", "to", "u"): EDGES}}
    with pytest.raises(SourceError, match="pass"):
        gm.compile_dataset(tmp_path / "more", nodes={"u": gm.Nodes(), "w": gm.Nodes()}, **given)
    nodes_of_both = {"u": gm.Nodes(), "w": gm.Nodes(num_nodes=2)}
    gm.compile_dataset(tmp_path / "more", nodes=nodes_of_both, **given)
    assert gm.Dataset(tmp_path / "more").nodes["w"].num_nodes == 2
