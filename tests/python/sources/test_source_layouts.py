"""Folders of datasets, faked as their libraries make them."""

from __future__ import annotations

import gzip
import sys

import numpy as np
import pytest
from draining import drain_edges, drain_rows
from open_sources import open_edges, open_rows

from graphmount._sources.layouts.recognition import find_layout
from graphmount._sources.opening import open_table
from graphmount.errors import SourceError


def write_gz(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt") as file:
        file.write(text)


def save(path, array):
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, array)


def fake_ogb(folder, scheme):
    write_gz(folder / "raw" / "edge.csv.gz", "0,1\n1,2\n")
    write_gz(folder / "raw" / "num-node-list.csv.gz", "4\n")
    write_gz(folder / "raw" / "num-edge-list.csv.gz", "2\n")
    write_gz(folder / "raw" / "node-feat.csv.gz", "0.5,1\n" * 4)
    write_gz(folder / "raw" / "node-label.csv.gz", "3\n" * 4)
    for name in ("train", "valid", "test"):
        write_gz(folder / "split" / scheme / f"{name}.csv.gz", "1\n")


@pytest.mark.parametrize(
    ("scheme", "directed"), [("time", True), ("sales_ranking", False), ("species", False)]
)
def test_ogb_text(scheme, directed, tmp_path):
    fake_ogb(tmp_path, scheme)
    layout = find_layout(tmp_path)
    assert (layout.kind, layout.num_nodes, layout.directed) == ("OGB", 4, directed)
    assert layout.edges.source == str(tmp_path / "raw" / "edge.csv.gz")
    assert (layout.edges.delimiter, layout.edges.header) == (",", False)
    assert layout.features.source.endswith("node-feat.csv.gz")
    assert layout.features.source_dtype == "float32"
    assert layout.labels.source_dtype == "int64"
    assert list(layout.splits) == ["train", "valid", "test"]
    assert layout.splits["valid"].source == str(tmp_path / "split" / scheme / "valid.csv.gz")
    assert any("adds its inverse" in note for note in layout.notes) == (not directed)


def test_ogb_oddities(tmp_path):
    fake_ogb(tmp_path, "weekday")
    (tmp_path / "raw" / "node-feat.csv.gz").unlink()
    write_gz(tmp_path / "raw" / "edge-feat.csv.gz", "1\n")
    layout = find_layout(tmp_path)
    assert layout.features is None
    assert layout.directed
    assert any("'weekday' is of no dataset" in note for note in layout.notes)
    assert any("edge-feat.csv.gz" in note for note in layout.notes)
    write_gz(tmp_path / "raw" / "num-node-list.csv.gz", "4\n5\n")
    with pytest.raises(SourceError, match="has 2 graphs"):
        find_layout(tmp_path)
    write_gz(tmp_path / "raw" / "num-node-list.csv.gz", "four\n")
    with pytest.raises(SourceError, match="does not hold numbers of nodes"):
        find_layout(tmp_path)


@pytest.mark.parametrize(
    ("scheme", "more", "directed"),
    [
        ("throughput", (), False),
        ("target", (), False),
        ("time", (), True),
        ("time", ("edge_weight",), False),
    ],
)
def test_ogb_links(scheme, more, directed, tmp_path):
    """ppa, ddi, citation2 and collab: the links to predict are files of torch."""
    fake_ogb(tmp_path, scheme)
    (tmp_path / "raw" / "node-label.csv.gz").unlink()
    for name in ("train", "valid", "test"):
        (tmp_path / "split" / scheme / f"{name}.csv.gz").unlink()
        (tmp_path / "split" / scheme / f"{name}.pt").write_bytes(b"of torch")
    for name in more:
        write_gz(tmp_path / "raw" / f"{name}.csv.gz", "1\n1\n")
    layout = find_layout(tmp_path)
    assert (layout.directed, layout.splits, layout.labels) == (directed, {}, None)
    assert any("left to OGB's get_edge_split" in note for note in layout.notes)
    assert any("adds its inverse" in note for note in layout.notes) == (not directed)
    assert any("Weights and years" in note for note in layout.notes) == bool(more)


def test_papers100m(tmp_path):
    (tmp_path / "raw").mkdir()
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    labels = np.array([[0], [np.nan], [2], [np.nan]], np.float32)
    np.savez_compressed(
        tmp_path / "raw" / "data.npz",
        edge_index=np.array([[0, 1, 2], [1, 2, 3]]),
        node_feat=x,
        node_year=np.array([[2000]] * 4),
        num_nodes_list=np.array([4]),
        num_edges_list=np.array([3]),
    )
    np.savez_compressed(tmp_path / "raw" / "node-label.npz", node_label=labels)
    write_gz(tmp_path / "split" / "time" / "train.csv.gz", "1\n")
    layout = find_layout(str(tmp_path))
    assert (layout.num_nodes, layout.directed, list(layout.splits)) == (4, True, ["train"])
    source = open_edges(**vars(layout.edges))
    assert source.num_nodes == 4
    assert drain_edges(source).pairs == [(0, 1), (1, 2), (2, 3)]
    rows, _ = drain_rows(open_table(layout.features))
    assert (rows == x).all()
    rows, _ = drain_rows(open_table(layout.labels))
    assert np.array_equal(rows, labels, equal_nan=True)
    assert any("NaN" in note for note in layout.notes)
    np.savez(tmp_path / "raw" / "data.npz", x=x)
    with pytest.raises(SourceError, match="has no member 'edge_index'; it has 'x'"):
        find_layout(tmp_path)


def test_mag240m(tmp_path, monkeypatch):
    papers = tmp_path / "processed" / "paper"
    save(papers / "node_feat.npy", np.ones((5, 8), np.float16))
    save(papers / "node_label.npy", np.array([1, np.nan, 2, 3, np.nan], np.float32))
    save(papers / "node_year.npy", np.full(5, 2000))
    save(
        tmp_path / "processed" / "paper___cites___paper" / "edge_index.npy", [[0, 1, 2], [1, 2, 3]]
    )
    layout = find_layout(tmp_path)
    assert (layout.kind, layout.num_nodes, layout.splits) == ("MAG240M", 5, {})
    assert "Only papers and paper-cites-paper are described" in layout.notes[0]
    assert drain_edges(open_edges(layout.edges.source)).src == [0, 1, 2]
    assert open_rows(layout.features.source).dtype == "float16"
    assert open_rows(layout.labels.source).is_vector
    torch = pytest.importorskip("torch")
    torch.save(
        {"train": np.array([0, 2]), "valid": np.array([3], np.int32)}, tmp_path / "split_dict.pt"
    )
    layout = find_layout(tmp_path)
    assert layout.splits["train"].source.tolist() == [0, 2]
    assert layout.splits["valid"].source.tolist() == [3]
    torch.save({"train": print}, tmp_path / "split_dict.pt")
    layout = find_layout(tmp_path)
    assert layout.splits == {}
    assert "could not be read safely" in layout.notes[-1]
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert "torch, which is not installed" in find_layout(tmp_path).notes[-1]


def fake_igb(folder):
    papers = folder / "processed" / "paper"
    save(papers / "node_feat.npy", np.ones((6, 1024), np.float32))
    save(papers / "node_label_19.npy", np.arange(6))
    save(papers / "node_label_2K.npy", np.arange(6))
    edges = folder / "processed" / "paper__cites__paper" / "edge_index.npy"
    save(edges, [[0, 1], [1, 2], [2, 3]])
    return papers


def test_igb_with_headers(tmp_path):
    papers = fake_igb(tmp_path)
    layout = find_layout(tmp_path)
    assert (layout.kind, layout.num_nodes, layout.directed) == ("IGB", 6, True)
    assert drain_edges(open_edges(layout.edges.source)).pairs == [(0, 1), (1, 2), (2, 3)]
    assert (layout.features.shape, layout.features.source_dtype) == (None, None)
    assert open_rows(layout.features.source).num_columns == 1024
    assert layout.labels.source.endswith("node_label_19.npy")
    assert any("node_label_2K" in note for note in layout.notes)
    (papers / "node_label_19.npy").unlink()
    assert find_layout(tmp_path).labels.source.endswith("node_label_2K.npy")


@pytest.mark.skipif(sys.platform != "linux", reason="needs files with holes")
@pytest.mark.parametrize("num_nodes", [100_000_000, 269_346_174])
def test_igb_without_headers(num_nodes, tmp_path):
    papers = fake_igb(tmp_path)
    for name, columns in (("node_feat", 1024), ("node_label_19", 1)):
        with (papers / f"{name}.npy").open("wb") as file:
            file.truncate(num_nodes * columns * 4)
    layout = find_layout(tmp_path)
    assert layout.num_nodes == num_nodes
    assert layout.features.shape == (num_nodes, 1024)
    assert layout.labels.shape == (num_nodes,)
    assert layout.features.source_dtype == layout.labels.source_dtype == "float32"
    features = open_table(layout.features)
    assert (features.num_rows, features.num_columns) == (num_nodes, 1024)
    assert next(features.batches(memory=1 << 20)).rows.shape == (256, 1024)
    assert open_table(layout.labels).is_vector


def test_igb_cut_off(tmp_path):
    papers = fake_igb(tmp_path)
    (papers / "node_feat.npy").write_bytes(bytes(5000))
    with pytest.raises(SourceError, match=r"5000 bytes and not 409600000000 \(large\) or"):
        find_layout(tmp_path)


def test_folders_that_are_not_known(tmp_path):
    with pytest.raises(SourceError, match=r"none of raw/edge\.csv\.gz with .*RelBench\)$"):
        find_layout(tmp_path)
    fake_ogb(tmp_path / "ogbn_arxiv", "time")
    with pytest.raises(SourceError, match=r"Did you mean .*ogbn_arxiv\?"):
        find_layout(tmp_path)
    with pytest.raises(FileNotFoundError):
        find_layout(tmp_path / "missing")
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        find_layout(tmp_path / "file")


@pytest.mark.parametrize("name", ["triplet-type-list.csv.gz", "edge_index_dict.npz"])
def test_several_kinds_of_nodes(name, tmp_path):
    write_gz(tmp_path / "raw" / name, "author,writes,paper\n")
    with pytest.raises(SourceError, match=r"several kinds of nodes and edges .* as ogbn-mag"):
        find_layout(tmp_path)
