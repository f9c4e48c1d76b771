"""The command line: compile dataset from a description file, and what it says of wrong ones."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import graphmount as gm
from graphmount._compile.spec.description_file import read_description_file
from graphmount._compile.spec.toml_lines import find_lines
from graphmount.cli import main

WRITES, CITES = ("author", "writes", "paper"), ("paper", "cites", "paper")
WHOLE = """\
# A dataset of two node types.
out = "made"
order = "given"
memory = "256MiB"
reverse = [["author", "writes", "paper"]]
source_rows = true
notes = ["Of two kinds."]

[nodes.paper]
labels = {source = "papers.csv", columns = ["topic"]}
timestamps = {source = "papers.csv", columns = ["year"]}
num_nodes = 4

[nodes.paper.features]
x = "x.npy"
half = {source = "x.bin", shape = [4, 2], source_dtype = "float32", dtype = "float16"}

[nodes.paper.splits]
train = [0, 2]
test = "test.txt"

[nodes.author]

[[edges]]
relation = ["author", "writes", "paper"]
source = "writes.csv"
columns = ["who", "what"]
weights = "weight"

[edges.features]
since = "since.npy"

[[edges]]
relation = ["paper", "cites", "paper"]
source = [
    "cites.npy",
    "more/*.npy",
]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The sources, and a folder elsewhere to work in: paths start at the file."""
    data = tmp_path / "data"
    (data / "more").mkdir(parents=True)
    (data / "papers.csv").write_text("topic,year\nml,2001\ndb,2002\nml,2003\nos,2004\n")
    (data / "writes.csv").write_text("weight,who,what\n0.5,0,1\n1.5,1,1\n2.5,1,3\n")
    (data / "test.txt").write_text("3\n")
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    np.save(data / "x.npy", x)
    x.tofile(data / "x.bin")
    np.save(data / "since.npy", np.array([7, 8, 9]))
    np.save(data / "cites.npy", np.array([[0, 1], [1, 2]]))
    np.save(data / "more" / "a.npy", np.array([[3], [0]]))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    return data


def run(*arguments):
    return main(["compile", "dataset", *map(str, arguments), "--no-progress"])


def write(folder, text):
    (folder / "spec.toml").write_text(text)
    return folder / "spec.toml"


def test_many_types(folder, capsys):
    assert run(write(folder, WHOLE)) == 0
    assert "made: 6 nodes, 9 edges, 2 node types, 3 relations" in capsys.readouterr().out
    ds = gm.Dataset(folder / "made")
    papers = ds.nodes["paper"]
    assert ds.edge_types == (WRITES, CITES, ("paper", "rev_writes", "author"))
    assert (papers.classes, papers.labels.tolist()) == (["db", "ml", "os"], [1, 0, 1, 2])
    assert papers.timestamps.tolist() == [2001, 2002, 2003, 2004]
    assert {name: ids.tolist() for name, ids in papers.splits.items()} == {
        "train": [0, 2],
        "test": [3],
    }
    assert str(papers.features["half"].dtype) == "float16"
    assert papers.features["x"].numpy().tolist() == papers.features["half"].numpy().tolist()
    writes = ds.edges[WRITES]
    assert sorted(writes.graph.weights.tolist()) == [0.5, 1.5, 2.5]
    assert sorted(writes.features["since"].numpy().tolist()) == [7, 8, 9]
    assert ds.edges[CITES].num_edges == 3
    assert ds.description["notes"] == ["Of two kinds."]
    # What is there is not replaced unless that is said.
    assert run(folder / "spec.toml") == 2
    assert "pass --overwrite to replace it" in capsys.readouterr().err
    assert run(folder / "spec.toml", "--overwrite", "--order", "hot", "--json") == 0
    assert json.loads(capsys.readouterr().out)["num_nodes"] == 6
    assert gm.Dataset(folder / "made").description["order"] == "hot"


def test_where_to(folder, capsys):
    """OUT is relative to where one is, as all paths on a command line are."""
    spec = write(folder, WHOLE)
    assert run(spec, "here") == 0
    assert gm.Dataset("here").node_types == ("paper", "author")
    assert not (folder / "made").exists()
    spec = write(folder, WHOLE.replace('out = "made"\n', ""))
    assert run(spec) == 2
    assert 'has no out = "…"' in capsys.readouterr().err
    assert run(spec, "a", "b") == 2
    assert "these are 2: a, b" in capsys.readouterr().err


def test_one_type(folder):
    spec = write(
        folder,
        """
        edges = {source = "cites.npy"}
        labels = "labels.npy"
        splits = {train = [0]}
        directed = false
        order = "given"
        [features]
        x = "x.npy"
        """,
    )
    np.save(folder / "labels.npy", np.arange(4))
    assert run(spec, "out") == 0
    ds = gm.Dataset("out")
    assert type(ds) is gm.Dataset
    assert (ds.num_edges, ds.labels.tolist(), ds.splits["train"].tolist()) == (4, [0, 1, 2, 3], [0])
    assert run(write(folder, 'edges = "cites.npy"'), "more") == 0
    assert gm.Dataset("more").num_nodes == 3


def test_names_as_ids(folder):
    (folder / "w.csv").write_text("who,what\nann,p1\nbob,p2\nann,p2\n")
    (folder / "p.csv").write_text("id,x,fold\np2,2,train\np1,1,test\n")
    spec = write(
        folder,
        """
        ids = "map"
        [nodes.paper]
        features.x = {source = "p.csv", key = "id", columns = ["x"]}
        splits = {source = "p.csv", key = "id", columns = ["fold"]}
        [nodes.author]
        splits.some = ["bob"]
        [[edges]]
        relation = ["author", "writes", "paper"]
        source = "w.csv"
        header = true
        """,
    )
    assert run(spec, "out") == 0
    ds = gm.Dataset("out")
    papers, authors = ds.nodes["paper"], ds.nodes["author"]
    assert papers.to_external(papers.splits["train"]) == ["p2"]
    assert authors.to_external(authors.splits["some"]) == ["bob"]
    assert papers.features["x"].gather(papers.to_internal(["p2", "p1"])).reshape(-1).tolist() == [
        2,
        1,
    ]


def test_ids_of_all_nodes(folder):
    np.save(folder / "ids.npy", np.array([70, 30, 50]))
    spec = """
        [nodes.u]
        node_ids = {}
        ids = "map"
        [nodes.v]
        num_nodes = 2
        [[edges]]
        relation = ["u", "to", "v"]
        source = "uv.csv"
        """
    (folder / "uv.csv").write_text("70,0\n50,1\n")
    for number, ids in enumerate(('"ids.npy"', "[70, 30, 50]")):
        assert run(write(folder, spec.format(ids)), f"out{number}") == 0
        nodes = gm.Dataset(f"out{number}").nodes["u"]
        assert sorted(nodes.to_external([0, 1, 2]).tolist()) == [30, 50, 70]


#: What is written in the place of what, and what is said of it.
WRONG = {
    "a key of all": ("memory =", "memory_size =", "line 4, memory_size: .*did you mean 'memory'"),
    "a key of a type": (
        "num_nodes = 4",
        "num_node = 4",
        r"line 12, nodes\.paper\.num_node: a node type has no key 'num_node'; did you mean 'num_n",
    ),
    "a key of a table": (
        "source_dtype =",
        "sourcedtype =",
        r"line 16, nodes\.paper\.features\.half\.sourcedtype: .*did you mean 'source_dtype'",
    ),
    "a key of a relation": (
        "weights =",
        "weight =",
        r"line 28, edges\[0\]\.weight: a relation has no key 'weight'; did you mean 'weights'",
    ),
    "another section": ("[edges.features]", "[edges.feature]", r"line 30, edges\[0\]\.feature: "),
    "a section of all": ("[nodes.author]", "[node.author]", "line 22, node: .*mean 'nodes'"),
    "a choice": ('"given"', '"gven"', "line 3, order: 'gven' should be 'hot' or 'given'"),
    "a size": ('"256MiB"', '"a lot"', "line 4, memory: "),
    "a size that is none": ('"256MiB"', "true", "line 4, memory: this is true or false, True"),
    "a number": ("num_nodes = 4", "num_nodes = -4", "line 12, .*: -4 is no number of things"),
    "a number that is none": (
        "num_nodes = 4",
        'num_nodes = "4"',
        r"line 12, nodes\.paper\.num_nodes: this is a text, '4', and it should be a whole number",
    ),
    "true": ("source_rows = true", "source_rows = 1", "line 6, .*should be true or false"),
    "notes": ('["Of two kinds."]', '["a", 3]', r"line 7, notes\[1\]: .*should be a text"),
    "a dtype": ('dtype = "float16"', 'dtype = "float15"', r"line 16, .*half\.dtype: dtype 'fl"),
    "columns": ('["topic"]', '"topic"', r"labels\.columns: .*a list of columns"),
    "one end": ('["who", "what"]', '["who"]', r"line 27, .*two ends, and these are 1 columns"),
    "a shape": ("[4, 2]", "[4, 2.5]", r"half\.shape\[1\]: this is a number, 2\.5"),
    "a split": ("[0, 2]", "[0, 2.5]", r"line 19, nodes\.paper\.splits\.train: a split has ids"),
    "splits": ("[nodes.paper.splits]\n", "[nodes.paper]\nsplits = 3\n", "no TOML"),
    "a file": (
        '"x.npy"',
        '"y.npy"',
        r"there is no such file; .*line 15, nodes\.paper\.features\.x names it",
    ),
    "a pattern": ('"more/*.npy"', '"less/*.npy"', r"line 35, edges\[1\]\.source\[1\] names it"),
    "no path": ('"x.npy"', '""', "line 15, .*'' is no path"),
    "a source": ('"writes.csv"', "3", r"line 26, edges\[0\]\.source: .*a path, or a list of"),
    "no source": ('source = "writes.csv"\n', "", r"line 24, edges\[0\]: a relation needs the key"),
    "an unknown type": (
        '["author", "writes", "paper"]\nsource',
        '["authors", "writes", "paper"]\nsource',
        r"line 25, edges\[0\]\.relation: there is no node type 'authors'; did you mean 'author'",
    ),
    "no relation": (
        '["paper", "cites", "paper"]',
        '["paper", "cites"]',
        r"line 34, edges\[1\]\.relation: .*three names",
    ),
    "two relations of one name": (
        '["paper", "cites", "paper"]',
        '["author", "writes", "paper"]',
        r"line 33, edges\[1\]: the relation \('author', 'writes', 'paper'\) is there twice",
    ),
    "a name that is a path": ("[nodes.author]", '[nodes."../a"]', r"line 22, nodes\.\'../a\': "),
    "a relation that is a path": ('"cites", "p', '"ci/tes", "p', r"relation\[1\]: 'ci/tes' has"),
    "an unknown reverse": (
        'reverse = [["author", "writes"',
        'reverse = [["author", "reads"',
        r"line 5, reverse\[0\]: there is no relation \('author', 'reads', 'paper'\); there are",
    ),
    "no reverse": ('reverse = [["author", "writes", "paper"]]', "reverse = 3", "line 5, reverse: "),
    "a table of edges": ('since = "since.npy"', "since = 3", r"edges\[0\]\.features\.since: "),
    "no TOML": ("[nodes.paper]", "[nodes.paper", "is no TOML: .*line 9"),
    "a key twice": ('order = "given"', 'order = "hot"\norder = "hot"', "is no TOML: .*line 4"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_descriptions(case, folder, capsys):
    old, new, message = WRONG[case]
    assert old in WHOLE
    spec = write(folder, WHOLE.replace(old, new, 1))
    assert run(spec, "out") == 2
    said = " ".join(capsys.readouterr().err.split())
    assert re.search(message, said), said
    assert str(spec) in said
    assert list(Path().iterdir()) == []


def test_near_files(folder, capsys):
    assert run(write(folder, WHOLE.replace('"since.npy"', '"sinces.npy"')), "out") == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "since.npy" in said.replace("sinces.npy", "")
    assert run(folder / "spex.toml", "out") == 2
    assert "spec.toml" in capsys.readouterr().err


def test_relations_without_types(folder, capsys):
    assert run(write(folder, '[[edges]]\nrelation=["a","b","a"]\nsource="cites.npy"'), "out") == 2
    assert "there are relations, and no node types" in capsys.readouterr().err
    assert run(write(folder, "[nodes.a]\n"), "out") == 2
    assert "needs the key 'edges'" in capsys.readouterr().err
    assert run(write(folder, "order = 'hot'"), "out") == 2
    assert "needs the key 'edges'" in capsys.readouterr().err
    assert run(write(folder, 'nodes = {}\nedges = "cites.npy"'), "out") == 2
    assert "at least one node type" in capsys.readouterr().err


def test_files_that_are_no_descriptions(folder, capsys):
    assert run("edges.csv") == 2
    assert "give --edges PATH, or a description" in capsys.readouterr().err
    (folder / "spec.toml").write_bytes(b"\xff\xfe")
    assert run(folder / "spec.toml", "out") == 2
    assert "byte 0 is no UTF-8" in capsys.readouterr().err
    (folder / "spec.toml").write_bytes(b"#" * (1 << 20) + b"##")
    assert run(folder / "spec.toml", "out") == 2
    assert "more than 1,048,576 bytes" in capsys.readouterr().err
    (folder / "spec.toml").write_text("x = " + "[" * 5000 + "]" * 5000)
    assert run(folder / "spec.toml", "out") == 2
    assert "is no TOML" in capsys.readouterr().err
    (folder / "pipe.toml").mkdir()
    assert run(folder / "pipe.toml", "out") == 2


@pytest.mark.parametrize(
    "flags",
    [
        ["--features", "x=x.npy"],
        ["--ids", "map"],
        ["--undirected"],
        ["--no-header"],
        ["--key", "a"],
    ],
)
def test_flags_that_belong_into_the_file(folder, capsys, flags):
    assert run(write(folder, WHOLE), *flags) == 2
    assert f"{flags[0].replace('--no-', '--')} does not go with a desc" in capsys.readouterr().err


def test_messages_are_about_the_file(folder, capsys):
    """What the work itself refuses names the type or the relation, and no flags."""
    assert run(write(folder, WHOLE.replace("num_nodes = 4", "num_nodes = 5")), "out") == 2
    said = capsys.readouterr().err
    assert "node type 'paper': the tables of nodes have 4 rows, but there are 5 nodes" in said
    assert "--" not in said


DOCS = Path(__file__).parents[3] / "docs"


def toml_of(page):
    blocks = re.findall(r"```toml\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 1
    return blocks[0]


def test_the_example_of_many_types(folder):
    (folder / "papers.csv").write_text("topic,year\n" + "ml,2001\ndb,2002\n" * 5)
    np.save(folder / "x.npy", np.ones((10, 3), np.float32))
    (folder / "train.txt").write_text("0\n1\n")
    (folder / "writes").mkdir()
    for part in ("a", "b"):
        (folder / "writes" / f"{part}.csv").write_text("author,paper\n0,1\n3,9\n")
    np.save(folder / "cites.npy", np.array([[0, 1, 2], [4, 4, 0]]))
    np.save(folder / "cited_at.npy", np.array([5, 6, 7]))
    np.save(folder / "place.npy", np.ones((3, 1), np.float32))
    assert run(write(folder, toml_of("kinds.md"))) == 0
    ds = gm.Dataset(folder / "mag")
    assert (ds.nodes["author"].num_nodes, ds.edges[WRITES].num_edges) == (4, 4)
    assert ds.edges[CITES].graph.has_timestamps
    assert list(ds.edges["paper", "rev_cites", "paper"].features) == ["place"]
    assert str(ds.nodes["paper"].features["x"].dtype) == "float16"


def test_the_example_of_one_type(folder):
    (folder / "follows.csv").write_text("who,whom\nann,bob\nbob,cay\n")
    (folder / "people.csv").write_text("name,team,age\ncay,red,31\nann,blue,47\nbob,red,25\n")
    assert run(write(folder, toml_of("cli.md")), "out") == 0
    ds = gm.Dataset("out")
    assert ds.features["age"].gather(ds.to_internal(["ann"])).reshape(-1).tolist() == [47]
    assert ds.classes == ["blue", "red"]


def test_windows_line_ends(folder):
    (folder / "spec.toml").write_bytes(WHOLE.replace("\n", "\r\n").encode())
    assert read_description_file(folder / "spec.toml").arguments["order"] == "given"


NAMES = st.sampled_from(["a", "b", "c"])
VALUES = st.one_of(
    st.integers(0, 9).map(str),
    st.sampled_from(['"x"', "[1, 2]", "[\n 1,\n]", '"""\nlong\n[a]\n"""', "'=#'", "{k = 1}"]),
)


@settings(max_examples=100, deadline=None)
@given(
    data=st.lists(
        st.tuples(
            st.sampled_from(["[{}]", "[[{}]]"]), NAMES, st.dictionaries(NAMES, VALUES, max_size=3)
        ),
        max_size=6,
    )
)
def test_lines_are_those_of_the_keys(data):
    """Against the plain way: the lines that were written, counted while they are written."""
    lines, expected, counts, kinds = [], {}, {}, {}
    for number, (header, name, keys) in enumerate(data):
        # A plain header once, one of an array as often as one likes.
        top = f"{name}{number}" if header == "[{}]" else f"array_{name}"
        kinds[top] = header
        lines += ["# a comment", header.format(top)]
        here = (top,)
        expected.setdefault(here, len(lines))
        if header == "[[{}]]":
            counts[top] = counts.get(top, -1) + 1
            here = (top, counts[top])
            expected[here] = len(lines)
        for key, value in keys.items():
            expected[*here, key] = len(lines) + 1
            lines += f"{key} = {value}".split("\n")
    found = find_lines("\n".join(lines))
    assert {keys: found.get(keys) for keys in expected} == expected


PIECES = ["\n", " ", "=", "[", "]", "[[", "{", "}", '"', "'", '"""', "#", ".", ",", "\0", "é", "1"]


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    edits=st.lists(
        st.tuples(st.integers(0, len(WHOLE)), st.integers(0, 12), st.sampled_from(PIECES)),
        max_size=3,
    )
)
def test_damaged_files_are_refused_or_read(edits, folder):
    """Whatever is in the file, it is a description or our error, which names the file."""
    text = WHOLE
    for place, gone, piece in edits:
        text = text[:place] + piece + text[place + gone :]
    spec = write(folder, text)
    described, problem = None, "spec.toml"
    try:
        described = read_description_file(spec)
    except (gm.errors.SourceError, FileNotFoundError) as error:
        problem = str(error)
    assert "spec.toml" in problem
    assert described is None or "edges" in described.arguments
