"""What is wrong with arguments and sources is said in our words, and advice in messages works."""

from __future__ import annotations

import ast
import gzip
import itertools
import pathlib
import re

import numpy as np
import pytest

import graphmount as gm
from graphmount.errors import SourceError

EDGES = ([0, 1], [1, 0])
ROWS = [[1.0], [2.0]]


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.csv").write_text("a;b;w\n0;1;0.5\n1;0;2\n")
    (tmp_path / "names.txt").write_text("ann bob\nbob eve\n")
    (tmp_path / "x.csv").write_text("1.5,2\n3,4\n")
    (tmp_path / "split.csv").write_text("0.5\n1.5\n")
    (tmp_path / "mixed.csv").write_text("1\n" * 2000 + "2.5\n")
    np.save("floats.npy", np.array([0.5, 1.0]))
    np.array([[0, 1], [1, 0]]).tofile("e.bin")
    (tmp_path / "twice.csv").write_text("a,b,w,w\n0,1,1,2\n1,0,1,2\n")
    np.savez("members.npz", a=np.arange(2), b=np.arange(2))
    np.savez("two.npz", a=np.eye(2), b=np.arange(2))
    gm.compile_graph(EDGES, "plain.gl")
    gm.compile_graph((["ann"], ["bob"]), "named.gl", ids="map")


def graph(source=EDGES, **options):
    return gm.compile_graph(source, "out.gl", **options)


def rows(source=ROWS, **options):
    return gm.compile_features(source, "out.gd", **options)


def dataset(**options):
    return gm.compile_dataset("data", overwrite=True, **{"edges": EDGES, **options})


def frame(**columns):
    return pytest.importorskip("pandas").DataFrame(columns)


def shuffled():
    frame = pytest.importorskip("polars").LazyFrame({"a": [1.0, 2.0, 3.0, 4.0]})
    turn = itertools.count()
    return frame.map_batches(lambda some: some if next(turn) % 2 else some.reverse())


def networkx():
    return pytest.importorskip("networkx")


def scipy():
    return pytest.importorskip("scipy.sparse")


def torch():
    return pytest.importorskip("torch")


#: Calls that are refused: what the message says, and the call as it advises.
ADVICE = {
    "pass ids='map' to number them": (
        lambda: graph((["ann"], ["bob"])),
        lambda: graph((["ann"], ["bob"]), ids="map"),
    ),
    "the node ids are text; pass ids='map'|pass ids='map' if ids are names": (
        lambda: graph("names.txt"),
        lambda: graph("names.txt", ids="map"),
    ),
    "pass node_ids= with the ids of all nodes": (
        lambda: graph(ids="map", num_nodes=2),
        lambda: graph(ids="map", node_ids=[0, 1]),
    ),
    "would make a graph of .* pass num_nodes= if there are so many, or ids='map'": (
        lambda: graph(([2**30], [1])),
        lambda: graph(([2**30], [1]), ids="map"),
    ),
    "there are no edges in it; pass num_nodes= if that is right": (
        lambda: graph(([], [])),
        lambda: graph(([], []), num_nodes=3),
    ),
    "pass its transpose, or a pair": (
        lambda: graph(np.zeros((5, 2), int)),
        lambda: graph(np.zeros((5, 2), int).T),
    ),
    "use numpy.flatnonzero": (
        lambda: gm.Graph("plain.gl").degree(np.array([True, False])),
        lambda: gm.Graph("plain.gl").degree(np.flatnonzero([True, False])),
    ),
    r"pass both shape= and dtype=|pass shape= and dtype= of its array": (
        lambda: graph("e.bin"),
        lambda: graph("e.bin", shape=(2, 2), dtype="int64"),
    ),
    r"pass a tuple of sizes, such as": (
        lambda: graph("e.bin", shape=4, dtype="int64"),
        lambda: graph("e.bin", shape=(2, 2), dtype="int64"),
    ),
    "comments=None; pass '' if no line is a comment": (
        lambda: graph("e.csv", comments=None),
        lambda: graph("e.csv", comments=""),
    ),
    "delimiter=59; pass a str": (
        lambda: graph("e.csv", delimiter=59),
        lambda: graph("e.csv", delimiter=";"),
    ),
    "pass delimiter= if ',' is not": (
        lambda: graph("e.csv", delimiter=","),
        lambda: graph("e.csv", delimiter=";"),
    ),
    "name the column of e.csv that has them": (
        lambda: graph("e.csv", weights=True),
        lambda: graph("e.csv", weights="w"),
    ),
    "choose one of True, False": (
        lambda: graph(directed=np.array([1, 0])),
        lambda: graph(directed=False),
    ),
    r"node_ids must be a list of ids, not \{": (
        lambda: graph(node_ids={7, 8}),
        lambda: graph(node_ids=[7, 8]),
    ),
    r"node_ids must be a list of ids, not 'ab'": (
        lambda: graph(node_ids="ab"),
        lambda: graph(node_ids=["a", "b"]),
    ),
    r"on_error='skip' leaves such rows out": (
        lambda: graph(frame(a=["0", "x"], b=["1", "1"])),
        lambda: graph(frame(a=["0", "x"], b=["1", "1"]), on_error="skip"),
    ),
    "pass series.to_frame": (
        lambda: rows(frame(a=[1.0, 2.0])["a"]),
        lambda: rows(frame(a=[1.0, 2.0])["a"].to_frame()),
    ),
    "or series.to_numpy": (
        lambda: rows(frame(a=[1.0, 2.0])["a"]),
        lambda: rows(frame(a=[1.0, 2.0])["a"].to_numpy()),
    ),
    r"give it an order \(sort, .* or pass frame.collect\(\)": (
        lambda: rows(shuffled(), quantize="column"),
        lambda: [
            rows(shuffled().sort("a"), quantize="column"),
            rows(shuffled().collect(), quantize="column"),
        ],
    ),
    "choose others with columns=": (
        lambda: rows(frame(a=[1.0], b=["x"])),
        lambda: rows(frame(a=[1.0], b=["x"]), columns=["a"]),
    ),
    "pass member= one of 'a', 'b'": (
        lambda: rows("two.npz"),
        lambda: rows("two.npz", member="a"),
    ),
    "cannot be stored; choose one of .* int32": (
        lambda: rows(np.array([5], np.uint16)),
        lambda: rows(np.array([5], np.uint16), dtype="int32"),
    ),
    "reshape them to": (
        lambda: rows(np.zeros((2, 3, 4))),
        lambda: rows(np.zeros((2, 3, 4)).reshape(2, 12)),
    ),
    'pass dtype="float32"': (
        lambda: rows("mixed.csv"),
        lambda: rows("mixed.csv", dtype="float32"),
    ),
    "pass nan= with a number to put there": (
        lambda: rows([[np.nan]], nan="error"),
        lambda: rows([[np.nan]], nan=0),
    ),
    "cannot be quantized; clean the source, or pass nan=": (
        lambda: rows([[np.nan]], quantize="column"),
        lambda: rows([[np.nan]], quantize="column", nan=0),
    ),
    "pass dtype='float64' and leave quantize= out": (
        lambda: rows([[1e300]], quantize="column"),
        lambda: rows([[1e300]], dtype="float64"),
    ),
    "pass missing=": (
        lambda: rows(key=[0, 2]),
        lambda: rows(key=[0, 2], missing=0),
    ),
    "pass repeated='first' or 'last'": (
        lambda: rows(key=[0, 0]),
        lambda: rows(key=[0, 0], repeated="last"),
    ),
    "would make a file of .* pass num_nodes=30000001 if": (
        lambda: rows(key=[0, 30_000_000], missing=0, dtype="uint8"),
        lambda: rows(key=[0, 30_000_000], missing=0, dtype="uint8", num_nodes=30_000_001),
    ),
    "pass order= with the graph whose node ids they are": (
        lambda: rows(key=["ann", "bob"]),
        lambda: rows(key=["ann", "bob"], order="named.gl"),
    ),
    "compile it with source_rows=True": (
        lambda: rows(edges="plain.gl"),
        lambda: rows(edges=graph(source_rows=True).path),
    ),
    "features=.*; pass a dict": (
        lambda: dataset(features=ROWS),
        lambda: dataset(features={"x": ROWS}),
    ),
    "splits=.*; pass a dict": (
        lambda: dataset(splits=[0]),
        lambda: dataset(splits={"train": [0]}),
    ),
    "notes must be a list of sentences, not 'x'": (
        lambda: dataset(notes="x"),
        lambda: dataset(notes=["x"]),
    ),
    "use letters, digits": (
        lambda: dataset(splits={"a/b": [0]}),
        lambda: dataset(splits={"a-b": [0]}),
    ),
    r"split 'train' must be ids or a mask of bools, not float64; pass array.astype": (
        lambda: dataset(splits={"train": np.array([0.0, 1.0])}),
        lambda: dataset(splits={"train": np.array([0.0, 1.0]).astype(np.int64)}),
    ),
    "is a mask, and with ids='map'.*pass ids": (
        lambda: dataset(ids="map", splits={"train": [True, False]}),
        lambda: dataset(ids="map", splits={"train": [0]}),
    ),
    "or node_ids= with the ids in the order of the mask": (
        lambda: dataset(ids="map", splits={"train": [True, False]}),
        lambda: dataset(ids="map", node_ids=[0, 1], splits={"train": [True, False]}),
    ),
    r"pass Table\(source=…, key=…\)": (
        lambda: dataset(ids="map", features={"x": ROWS}),
        lambda: dataset(ids="map", features={"x": gm.Table(source=ROWS, key=[0, 1])}),
    ),
    "pass ids='map' with key_type='str'": (
        lambda: graph(frame(a=[0, 1], b=["1", "0"]), ids="map"),
        lambda: graph(frame(a=[0, 1], b=["1", "0"]), ids="map", key_type="str"),
    ),
    "or 'int'": (
        lambda: graph(frame(a=[0, 1], b=["1", "0"]), ids="map"),
        lambda: graph(frame(a=[0, 1], b=["1", "0"]), ids="map", key_type="int"),
    ),
    "its nodes are strings; pass ids='map'": (
        lambda: graph(pytest.importorskip("networkx").Graph([("a", "b")])),
        lambda: graph(pytest.importorskip("networkx").Graph([("a", "b")]), ids="map"),
    ),
    "use networkx.convert_node_labels_to_integers": (
        lambda: graph(networkx().grid_2d_graph(2, 2)),
        lambda: graph(networkx().convert_node_labels_to_integers(networkx().grid_2d_graph(2, 2))),
    ),
    "pass True for the values it has": (
        lambda: graph(scipy().eye_array(3, format="csr"), weights="weight"),
        lambda: graph(scipy().eye_array(3, format="csr"), weights=True),
    ),
    "pass the name that .* has for it": (
        lambda: graph("members.npz", timestamps=5),
        lambda: graph("members.npz", columns=("a", "b"), timestamps="b"),
    ),
    r"pass columns=\(sources, destinations\) out of 'a', 'b'": (
        lambda: graph("members.npz"),
        lambda: graph("members.npz", columns=("a", "b")),
    ),
    r"pass its indices, tensor.to_sparse_coo\(\)": (
        lambda: graph(torch().eye(2).to_sparse()),
        lambda: graph(torch().eye(2).to_sparse().to_sparse_coo().coalesce().indices()),
    ),
    "choose it alone with columns=": (
        lambda: rows(frame(a=[[1.0, 2.0]], b=[1.0])),
        lambda: rows(frame(a=[[1.0, 2.0]], b=[1.0]), columns="a"),
    ),
    "give the number of the one you mean": (
        lambda: graph("twice.csv", columns=("a", "b"), weights="w"),
        lambda: graph("twice.csv", columns=("a", "b"), weights=3),
    ),
    "is a column, but the source is a vector; pass an array": (
        lambda: rows([1.0, 2.0], key=0),
        lambda: rows([1.0, 2.0], key=[1, 0]),
    ),
    "pass one such as 'float32'": (
        lambda: graph("e.bin", shape=(2, 2), dtype="integers"),
        lambda: graph("e.bin", shape=(2, 2), dtype="int64"),
    ),
    "pass a pattern, such as": (
        lambda: graph(["e.csv", "two.npz"]),
        lambda: graph("e.c*"),
    ),
    "write '4GiB' or": (
        lambda: graph(memory="much"),
        lambda: graph(memory="4GiB"),
    ),
    "it takes 64.0 MiB at least": (
        lambda: graph(memory="1B"),
        lambda: graph(memory="64.0 MiB"),
    ),
}

OURS = (ValueError, TypeError, gm.errors.GraphmountError)
#: What NumPy, nanobind, pyarrow, zlib and Python's own parts say of themselves.
RAW = re.compile(
    r"incompatible function arguments|unsized object|has no attribute|is not iterable|ambiguous|"
    r"has no len|Traceback|codec can't|unsupported operand|Exceeds the limit|std::|"
    r"ArrowInvalid|Errno -3|invalid literal|could not convert|inhomogeneous"
)


@pytest.mark.parametrize("message", ADVICE)
def test_advice_works(message):
    refused, followed = ADVICE[message]
    with pytest.raises(OURS, match=message):
        refused()
    followed()


WRONG = {
    "columns": lambda: graph("e.csv", columns=5),
    "comments": lambda: graph("e.csv", comments="\udc80"),
    "delimiter": lambda: graph("e.csv", delimiter="→"),
    "source_rows": lambda: graph(source_rows="yes"),
    "ids": lambda: graph((["\udc80"], ["b"]), ids="map"),
    "node_ids": lambda: graph(node_ids=5),
    "a frame of objects": lambda: graph(frame(a=[0, "x"], b=[1, 2])),
    "a frame of one name": lambda: graph(frame(a=[0], b=[1]).rename(columns={"b": "a"})),
    "an empty frame": lambda: graph(frame()),
    "num_nodes": lambda: graph(num_nodes=2**62),
    "rows of nothing": lambda: rows(None),
    "rows of a dict": lambda: rows({"a": [1]}),
    "rows of a generator": lambda: rows(i for i in range(3)),
    "rows of lists": lambda: rows([[1.0], [1.0, 2.0]]),
    "columns of rows": lambda: rows(columns="a"),
    "a key that is not there": lambda: rows("x.csv", key=9),
    "infinite": lambda: rows([[np.inf]], quantize="column"),
    "notes": lambda: dataset(notes=5),
    **{
        f"split {name}": lambda split=split: dataset(splits={"train": split})
        for name, split in {
            "of one": 5,
            "of nothing": None,
            "of objects": [None],
            "of floats": [0.5],
            "of NaN": [float("nan")],
            "of text": ["a"],
            "of text and numbers": ["a", 5],
            "of a dict": {"a": 1},
            "of bytes": b"01",
            "of huge numbers": [2**70],
            "of two dimensions": [[0, 1]],
            "of strangers": [9],
            "of floats in a file": "floats.npy",
            "of floats in text": "split.csv",
            "that is a short mask": [True],
        }.items()
    },
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_in_our_words(name):
    with pytest.raises(OURS) as e:
        WRONG[name]()
    assert not RAW.search(str(e.value)), str(e.value)
    assert len(str(e.value)) < 800


@pytest.mark.parametrize("split", [[0.5], [[0]], ["a"], [True], "floats.npy", {"a": 1}])
def test_splits_are_looked_at_first(split):
    """Before the edges are read, which may take hours."""

    def edges():
        raise AssertionError("the edges were read")
        yield

    class Source:
        name, size, num_edges, estimated_edges, num_nodes = "edges", 1, 1, None, 2
        node_ids, skipped = None, None
        is_symmetric = has_text_ids = has_weights = has_timestamps = False
        num_doubtful_lines = 0

        def batches(self, *, memory):
            del memory
            return edges()

    from graphmount._compile.dataset import compiler

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiler, "open_edge_table", lambda *_, **__: Source())
        with pytest.raises((TypeError, ValueError)):
            dataset(num_nodes=2, splits={"train": split})
        with pytest.raises(AssertionError, match=r"the edges were read"):
            dataset(num_nodes=2, splits={"train": [0]})


def test_budgets_that_messages_name():
    """To the byte: a rounded number would be too small half of the time."""
    hub = np.zeros((2, 2_000_000), np.int64)
    with pytest.raises(gm.errors.BudgetError, match=r"pass memory='(\d+MiB)'") as e:
        graph(hub, memory="64MiB")
    graph(hub, memory=re.search(r"memory='(\d+MiB)'", str(e.value))[1])
    with pytest.raises(gm.errors.BudgetError, match=r"pass memory='(\d+MiB)'") as e:
        graph(hub, memory="64MiB", ids="map")
    graph(hub, memory=re.search(r"memory='(\d+MiB)'", str(e.value))[1], ids="map")
    num_nodes = 4_246_732  # whose order takes a little more than half of 64 MiB + 0.8 MiB
    with pytest.raises(gm.errors.BudgetError, match=r"pass memory=\d+ or more") as e:
        dataset(num_nodes=num_nodes, memory="64MiB")
    dataset(num_nodes=num_nodes, memory=int(re.search(r"memory=(\d+) or", str(e.value))[1]))
    dataset(num_nodes=num_nodes, memory="64MiB", order="given")


#: Advice that is followed in other tests, or that only a machine of another kind can follow.
ELSEWHERE = {
    "pass array.filled(…)": "test_arguments.py",
    "use {}": "above, letters and digits in names",
    "pass array.astype(numpy.int64)": "above, a split of floats",
    "pass series.to_frame(),": "above",
    "pass ids,": "above, in the place of a mask",
    "pass memory={}": "test_hostile_headers.py, and above",
    "pass num_nodes={}": "above, and below",
    "pass array.astype('datetime64[s]')": "test_exact_numbers.py",
    "pass tensor.float(),": "test_exact_numbers.py",
    "pass tensor.cpu()": "needs another device",
    "pass dataset.materialize()": "test_ray_source.py",
    "pass ds.to_external(ids),": "test_whose_ids.py",
    "pass the": "test_source_memory.py, edges of one kind of a HeteroData",
    "pass one": "test_source_memory.py, a column of edge_attr",
    "pass {}": "above, shape= and dtype= of its array",
    "pass delimiter=": "above",
    "pass an": "a column of quantized values, as that of a vector",
    "pass a larger memory=": "test_compile_keys.py",
    "pass overwrite=True": "test_dataset_replacement.py",
    "pass splits=Table(source=…,": "test_split_columns.py",
    "pass num_sources={}": "test_rectangular.py",
    "pass gm.Nodes(num_nodes=…)": "test_typed_refusals.py",
    "pass key_type='str'": "test_typed_refusals.py",
    "pass that": "test_pyg_data.py, what is too large for the cache",
}


def advice_of(path):
    """The two words with which each advice of a file begins, where an error is raised."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        is_error = isinstance(node, ast.Call) and getattr(
            node.func, "id", getattr(node.func, "attr", "")
        ).endswith("Error")
        if not is_error:
            continue
        text = ""
        for part in node.args:
            pieces = part.values if isinstance(part, ast.JoinedStr) else [part]
            for piece in pieces:
                text += piece.value if isinstance(piece, ast.Constant) else "{}"
        yield from re.findall(r"\b(?:pass|use) (?:a larger )?[^\s;]+", text)


def test_all_advice_is_followed():
    """Whoever adds a message that says what to pass adds a call that does."""
    package = pathlib.Path(gm.__file__).parent
    followed = " ".join(ADVICE).replace("\\", "").replace("|", " ")
    area = [package / "_support" / "sizes.py", package / "_support" / "conversion.py"]
    for folder in ("_sources", "_compile"):
        area += (package / folder).rglob("*.py")
    unknown = {
        f"{path.name}: {advice}"
        for path in area
        for advice in advice_of(path)
        if advice not in followed and advice not in ELSEWHERE
    }
    assert unknown == set()


def test_nodes_that_a_file_claims(tmp_path):
    """A matrix of one entry made a graph of as many nodes as it said, 8 bytes each and more."""
    text = b"%%MatrixMarket matrix coordinate pattern general\n300000000 300000000 1\n1 2\n"
    (tmp_path / "m.mtx").write_bytes(text)
    (tmp_path / "m.mtx.gz").write_bytes(gzip.compress(text))
    np.savez("coo.npz", format="coo", shape=[300_000_000] * 2, row=[0], col=[1])
    np.savez("ogb.npz", edge_index=[[0], [1]], num_nodes_list=[300_000_000])
    for source in ("m.mtx", "m.mtx.gz", "coo.npz", "ogb.npz"):
        with pytest.raises(SourceError, match=r"has 300000000 nodes, and has 1 edges; pass num_n"):
            graph(source)
    (tmp_path / "m.mtx").write_bytes(text.replace(b"300000000", b"17000000"))
    with pytest.raises(SourceError, match=r"pass num_nodes=17000000 if that is right"):
        graph("m.mtx")
    assert graph("m.mtx", num_nodes=17_000_000).num_nodes == 17_000_000
