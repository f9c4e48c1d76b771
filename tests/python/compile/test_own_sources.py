"""An output that is one of its own sources is refused, by whatever name; a handle is its file."""

from __future__ import annotations

import gzip
import os

import numpy as np
import pytest

import graphmount as gm
import graphmount.graphzero as gz
from graphmount.cli import main

REFUSED = "would replace one of its own sources"
EDGES = ([0, 1, 2], [1, 2, 0])


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A file of each kind in the working folder, and a check that none of them has changed."""
    monkeypatch.chdir(tmp_path)
    gm.compile_graph(EDGES, "g.gl", source_rows=True)
    gm.compile_features(np.eye(3), "x.gd")
    np.save("e.npy", np.array(EDGES))
    np.save("x.npy", np.ones(3))
    (tmp_path / "e.csv").write_text("0,1\n1,2\n2,0\n")
    (tmp_path / "e.csv.gz").write_bytes(gzip.compress(b"0,1\n1,2\n2,0\n"))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    yield tmp_path
    left = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.name in before}
    assert left == before


def hard_link(path):
    os.link(path, path + ".hard")
    return path + ".hard"


def soft_link(path):
    os.symlink(path, path + ".soft")
    return path + ".soft"


NAMES = {
    "itself": str,
    "hard link": hard_link,
    "symbolic link": soft_link,
    "detour": lambda path: os.path.join("..", os.path.basename(os.getcwd()), path),
    "absolute": os.path.abspath,
}


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("source", ["g.gl", "e.npy", "e.csv", "e.csv.gz"])
@pytest.mark.parametrize("name", NAMES)
def test_graph_over_its_edges(name, source):
    with pytest.raises(ValueError, match=REFUSED):
        gm.compile_graph(source, NAMES[name](source))
    if name == "hard link":
        with pytest.raises(ValueError, match=rf"{REFUSED} \({source}\.hard\)"):
            gm.compile_graph(f"{source}.hard", source)
    assert not [entry for entry in os.listdir() if entry.startswith(".")]


@pytest.mark.usefixtures("files")
def test_through_a_descriptor():
    with open("e.csv", "rb") as file:
        with pytest.raises(ValueError, match=REFUSED):
            gm.compile_graph(f"/proc/self/fd/{file.fileno()}", "e.csv")
        with pytest.raises(ValueError, match=REFUSED):
            gm.compile_graph("e.csv", f"/proc/self/fd/{file.fileno()}")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    "source",
    [
        ["e.csv", "e.csv.gz"],
        "*.csv",
        "../*/e.csv",
    ],
)
def test_lists_and_patterns(source):
    with pytest.raises(ValueError, match=REFUSED):
        gm.compile_graph(source, "e.csv")


@pytest.mark.usefixtures("files")
def test_a_folder_that_has_the_output():
    os.mkdir("parts")
    os.rename("e.csv", "parts/0.csv")
    with pytest.raises(ValueError, match=REFUSED):
        gm.compile_graph("parts", "parts/0.csv")
    os.rename("parts/0.csv", "e.csv")


@pytest.mark.usefixtures("files")
def test_handles_and_mapped_arrays():
    graph, store = gm.Graph("g.gl"), gm.FeatureStore("x.gd")
    mapped = np.load("e.npy", mmap_mode="r")
    for write in (
        lambda: gm.compile_graph(graph, "g.gl"),
        lambda: gm.compile_features(store, hard_link("x.gd")),
        lambda: gm.compile_features(store.numpy(), "x.gd"),
        lambda: gm.compile_features(store.numpy()[1:], "x.gd", dtype="float32"),
        lambda: gm.compile_graph(mapped, "e.npy"),
        lambda: gm.compile_graph((mapped[0], mapped[1]), "e.npy"),
    ):
        with pytest.raises(ValueError, match=REFUSED):
            write()


def test_what_stands_beside_a_source(files):
    for write in (
        lambda: gm.compile_graph(EDGES, "x.npy", weights="x.npy"),
        lambda: gm.compile_graph(EDGES, "x.npy", timestamps=files / "e.npy", weights="x.npy"),
        lambda: gm.compile_graph(EDGES, "x.npy", weights=np.load("x.npy", mmap_mode="r")),
        lambda: gm.compile_graph(EDGES, "x.npy", node_ids=np.load("x.npy", mmap_mode="r")),
        lambda: gm.compile_features(np.eye(3), "g.gl", order="g.gl"),
        lambda: gm.compile_features(np.eye(3), "g.gl", order=gm.Graph("g.gl")),
        lambda: gm.compile_features(np.eye(3), "g.gl", edges="g.gl"),
        lambda: gm.compile_features(np.eye(3), "x.npy", key=np.load("x.npy", mmap_mode="r")),
    ):
        with pytest.raises(ValueError, match=REFUSED):
            write()


@pytest.mark.usefixtures("files")
def test_graphzero():
    with pytest.raises(ValueError, match=REFUSED):
        gz.convert_csv_to_gl("e.csv", "e.csv")
    with pytest.raises(ValueError, match=REFUSED):
        gz.convert_csv_to_gd("e.csv", "e.csv", gz.DataType.FLOAT32)


@pytest.mark.usefixtures("files")
def test_commands(capsys):
    for arguments in (["graph", "g.gl", "./g.gl"], ["features", "x.gd", "x.gd"]):
        assert main(["compile", *arguments]) == 2
        assert REFUSED in capsys.readouterr().err


@pytest.mark.usefixtures("files")
def test_another_output_is_fine():
    """Only what is the same file is refused, not what has a similar name or was a copy."""
    gm.compile_graph("e.csv", "new.gl")
    gm.compile_graph("e.csv", "new.gl")
    gm.compile_graph("new.gl", "newer.gl")
    gm.compile_features("x.gd", "y.gd")
    gm.compile_features(gm.FeatureStore("x.gd").numpy(), "y.gd")
    old = gm.Graph("new.gl")
    gm.compile_graph(([0], [1]), "new.gl")
    gm.compile_graph(old, "new.gl")  # the handle has another file open
    assert gm.Graph("new.gl").num_edges == 3


@pytest.fixture
def dataset(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    gm.compile_dataset(
        "ds", edges=EDGES, features={"x": np.eye(3)}, labels=[0, 1, 2], splits={"train": [1]}
    )
    before = {path: path.read_bytes() for path in (tmp_path / "ds").rglob("*.*")}
    yield tmp_path
    assert {path: path.read_bytes() for path in (tmp_path / "ds").rglob("*.*")} == before
    assert os.listdir(tmp_path / "ds")


@pytest.mark.usefixtures("dataset")
def test_dataset_over_its_parts():
    opened = gm.Dataset("ds")
    os.symlink("ds", "link")
    os.link("ds/graph.gl", "hard.gl")
    for options in (
        {"edges": "ds/graph.gl"},
        {"edges": opened.graph},
        {"edges": "hard.gl"},
        {"edges": gm.EdgeTable(source="link/graph.gl")},
        {"edges": EDGES, "features": {"x": "ds/features/x.gd"}},
        {"edges": EDGES, "features": {"x": gm.Table(source=opened.features["x"])}},
        {"edges": EDGES, "features": {"x": opened.features["x"].numpy()}},
        {"edges": EDGES, "labels": "ds/labels.gd"},
        {"edges": EDGES, "splits": {"train": "ds/splits/train.gd"}},
        {"edges": EDGES, "edge_features": {"w": "ds/features/x.gd"}},
    ):
        for out in ("ds", "link", "./ds/"):
            with pytest.raises(ValueError, match=REFUSED):
                gm.compile_dataset(out, overwrite=True, **options)
    gm.compile_dataset("new", edges=opened.graph, features={"x": opened.features["x"]})
    assert sorted(os.listdir()) == ["ds", "hard.gl", "link", "new"]


@pytest.mark.usefixtures("dataset")
def test_sources_in_what_a_killed_attempt_left():
    """It would be cleared away before it is read."""
    os.rename("ds", ".new.graphmount-partial")
    with pytest.raises(ValueError, match=REFUSED):
        gm.compile_dataset("new", edges=".new.graphmount-partial/graph.gl")
    os.rename(".new.graphmount-partial", "ds")


@pytest.mark.usefixtures("dataset")
def test_layerwise_inference():
    torch = pytest.importorskip("torch")
    import graphmount.torch  # noqa: F401

    opened = gm.Dataset("ds")
    layers = [lambda x, _: x.to(torch.float32)]
    for out in ("ds/features/x.gd", "ds/graph.gl", "ds/labels.gd"):
        with pytest.raises(ValueError, match=REFUSED):
            gm.torch.layerwise_inference(opened, layers, out=out)
        pair = (opened.graph, opened.features["x"])
        if "labels" not in out:
            with pytest.raises(ValueError, match=REFUSED):
                gm.torch.layerwise_inference(pair, layers, out=out)


def test_a_handle_is_the_file_it_has_open(tmp_path):
    gm.compile_graph(EDGES, tmp_path / "g.gl", weights=[1, 2, 3], node_ids=["a", "b", "c"])
    gm.compile_features(np.arange(6.0).reshape(3, 2), tmp_path / "x.gd")
    gm.compile_features(np.eye(3), tmp_path / "q.gd", quantize="column")
    graph, store = gm.Graph(tmp_path / "g.gl"), gm.FeatureStore(tmp_path / "x.gd")
    quantized = gm.FeatureStore(tmp_path / "q.gd")
    gm.compile_graph(graph, tmp_path / "wanted.gl")
    gm.compile_graph(([0], [0]), tmp_path / "g.gl", num_nodes=9)
    gm.compile_features(np.zeros((7, 1)), tmp_path / "x.gd")
    os.unlink(tmp_path / "q.gd")
    gm.compile_graph(graph, tmp_path / "made.gl")
    assert (tmp_path / "made.gl").read_bytes() == (tmp_path / "wanted.gl").read_bytes()
    gm.compile_features(store, tmp_path / "y.gd")
    assert gm.FeatureStore(tmp_path / "y.gd").numpy().tolist() == [[0, 1], [2, 3], [4, 5]]
    gm.compile_features(quantized, tmp_path / "y.gd")
    assert gm.FeatureStore(tmp_path / "y.gd").shape == (3, 3)
    gm.compile_features(np.eye(3), tmp_path / "y.gd", order=graph)
    gm.check_order(graph, gm.FeatureStore(tmp_path / "y.gd"))
    done = gm.compile_dataset(tmp_path / "ds", edges=graph, features={"x": store})
    assert done.num_edges == 3


def test_a_closed_handle_is_no_source(tmp_path):
    gm.compile_graph(EDGES, tmp_path / "g.gl")
    graph = gm.Graph(tmp_path / "g.gl")
    graph.close()
    with pytest.raises(gm.errors.ClosedError):
        gm.compile_graph(graph, tmp_path / "h.gl")


def test_arrays_without_items_have_no_file(tmp_path):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for dtype in (ml_dtypes.bfloat16, np.float32):
        report = gm.compile_features(np.zeros((0, 4), dtype), tmp_path / "x.gd")
        assert gm.FeatureStore(report.path).shape == (0, 4)
