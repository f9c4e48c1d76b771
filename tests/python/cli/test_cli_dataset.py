"""The command line with datasets: compile ogb, and info and verify of their folders."""

from __future__ import annotations

import gzip
import json
import re
import shutil

import numpy as np
import pytest
from dataset_folders import without_list

import graphmount as gm
from graphmount.cli import main


def write_gz(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt") as file:
        file.write(text)


def save(path, array):
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, array)


def as_ogb(folder, *, scheme="time"):
    """As ogbn-arxiv, or with another scheme, products: node 3 is in most lists, 4 in none."""
    raw = folder / "raw"
    write_gz(raw / "edge.csv.gz", "3,0\n3,1\n3,2\n1,2\n")
    write_gz(raw / "num-node-list.csv.gz", "5\n")
    write_gz(raw / "node-feat.csv.gz", "".join(f"{i}.5,{-i}\n" for i in range(5)))
    write_gz(raw / "node-label.csv.gz", "".join(f"{10 * i}\n" for i in range(5)))
    for name, nodes in (("train", "3\n4\n"), ("valid", "0\n"), ("test", "1\n2\n")):
        write_gz(folder / "split" / scheme / f"{name}.csv.gz", nodes)
    return folder


def as_papers100m(folder):
    (folder / "raw").mkdir(parents=True)
    np.savez(
        folder / "raw" / "data.npz",
        edge_index=np.array([[3, 3, 3, 1], [0, 1, 2, 2]]),
        node_feat=np.array([[i + 0.5, -i] for i in range(5)], np.float32),
        num_nodes_list=np.array([5]),
    )
    labels = np.array([[0], [10], [20], [30], [np.nan]], np.float32)
    np.savez(folder / "raw" / "node-label.npz", node_label=labels)
    write_gz(folder / "split" / "time" / "train.csv.gz", "3\n4\n")
    return folder


def as_mag240m(folder, relation="paper___cites___paper"):
    papers = folder / "processed" / "paper"
    save(papers / "node_feat.npy", np.array([[i + 0.5, -i] for i in range(5)], np.float16))
    save(papers / "node_label.npy", np.array([0, 10, 20, 30, np.nan], np.float32))
    save(folder / "processed" / relation / "edge_index.npy", [[3, 3, 3, 1], [0, 1, 2, 2]])
    return folder


def as_igb(folder):
    papers = folder / "processed" / "paper"
    save(papers / "node_feat.npy", np.array([[i + 0.5, -i] for i in range(5)], np.float32))
    save(papers / "node_label_19.npy", np.array([0, 10, 20, 30, 40]))
    edges = [[3, 0], [3, 1], [3, 2], [1, 2]]
    save(folder / "processed" / "paper__cites__paper" / "edge_index.npy", edges)
    return folder


@pytest.mark.parametrize("make", [as_ogb, as_papers100m, as_mag240m, as_igb])
def test_compile_ogb(make, tmp_path, capsys):
    source = make(tmp_path / "source")
    assert main(["compile", "ogb", str(source), str(tmp_path / "out")]) == 0
    captured = capsys.readouterr()
    assert f"{tmp_path}/out: 5 nodes, 4 edges, features 'x', labels" in captured.out
    ds = gm.Dataset(tmp_path / "out")
    for note in ds.description["notes"]:
        assert f"  {note}\n" in captured.err
    assert ds.to_external([0, 1, 2, 3, 4]).tolist() == [3, 1, 0, 2, 4]
    nodes = ds.to_internal(np.arange(5))
    assert ds.features["x"].numpy()[nodes].tolist() == [[i + 0.5, -i] for i in range(5)]
    assert ds.labels[nodes][:4].tolist() == [0, 10, 20, 30]
    assert sorted(ds.to_external(ds.graph.neighbors(ds.to_internal([2])[0]))) == [1, 3]
    if ds.splits:
        assert ds.to_external(ds.splits["train"]).tolist() == [3, 4]


def test_compile_ogb_with_options(tmp_path, capsys):
    source = as_ogb(tmp_path / "source", scheme="sales_ranking")
    out = str(tmp_path / "out")
    options = ["--order", "given", "--dtype", "float16", "--neighbors", "in", "--memory", "64MiB"]
    options += ["--tmp", str(tmp_path), "--json", "--no-progress"]
    assert main(["compile", "ogb", str(source), out, *options]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["num_edges"] == 8  # OGB adds the inverse ones
    assert captured.err == ""
    ds = gm.Dataset(out)
    assert ds.graph.node_id_type is None
    assert ds.features["x"].dtype == np.float16
    assert main(["compile", "ogb", str(source), out]) == 2
    assert "exists; pass --overwrite to replace it" in capsys.readouterr().err
    assert main(["compile", "ogb", str(source), out, "--overwrite"]) == 0
    assert gm.Dataset(out).graph.node_id_type is int
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "source"]


@pytest.mark.parametrize("make", [as_papers100m, as_mag240m])
def test_labels_that_are_missing(make, tmp_path):
    source, out = str(make(tmp_path / "source")), str(tmp_path / "out")
    assert main(["compile", "ogb", source, out, "--label-dtype", "int64", "--label-nan", "-1"]) == 0
    ds = gm.Dataset(out)
    assert ds.labels.dtype == np.int64
    assert ds.labels[ds.to_internal(np.arange(5))].ravel().tolist() == [0, 10, 20, 30, -1]


def test_compile_ogb_refuses(tmp_path, capsys):
    as_ogb(tmp_path / "home" / "arxiv")
    (tmp_path / "home" / "letters").write_text("do not lose")
    out = str(tmp_path / "out")
    assert main(["compile", "ogb", str(tmp_path / "none"), out]) == 2
    assert "No such file" in capsys.readouterr().err
    assert main(["compile", "ogb", str(tmp_path / "home"), out]) == 2
    assert "Did you mean" in capsys.readouterr().err
    source = str(tmp_path / "home" / "arxiv")
    assert main(["compile", "ogb", source, str(tmp_path / "home"), "--overwrite"]) == 2
    assert "would replace one of its own sources" in capsys.readouterr().err
    assert (tmp_path / "home" / "letters").exists()


@pytest.fixture
def folder(tmp_path):
    """A dataset that has everything."""
    gm.compile_dataset(
        tmp_path / "ds",
        edges=([2, 2, 0], [0, 1, 1]),
        features={"x": np.eye(3), "y": np.ones(3)},
        edge_features={"w": [1.0, 2.0, 3.0]},
        labels=[0, 1, 2],
        splits={"train": [0], "test": [1, 2]},
        notes=["Of [red]two[/red] minds."],
    )
    return tmp_path / "ds"


FILES = ["graph.gl", "features/x.gd", "features/y.gd", "edge_features/w.gd", "labels.gd"]
FILES += ["splits/train.gd", "splits/test.gd"]


def test_info(folder, capsys):
    assert main(["info", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "3, in the order 'hot'" in out
    assert "x, y" in out
    assert "  Of [red]two[/red] minds.\n" in out
    places = [out.replace("\n", "").index(f"{folder}/{name}") for name in FILES]
    assert places == sorted(places)


def test_info_as_json(folder, graph_path, capsys):
    assert main(["info", "--json", str(folder), str(graph_path)]) == 0
    dataset, *files, last = json.loads(capsys.readouterr().out)
    assert dataset["kind"] == "dataset"
    assert dataset["features"] == ["x", "y"]
    assert dataset["splits"] == ["test", "train"]
    assert dataset["labels"] is True
    assert [file["path"] for file in files] == [str(folder / name) for name in FILES]
    assert dataset["file_bytes"] == sum(file["file_bytes"] for file in files)
    assert last["num_nodes"] == 50


def test_info_of_a_bare_dataset(tmp_path, capsys):
    gm.compile_dataset(tmp_path / "ds", edges=([0], [1]), order="given")
    assert main(["info", str(tmp_path / "ds")]) == 0
    out = capsys.readouterr().out.partition("graph.gl")[0]
    assert "in the order 'given'" in out
    assert not any(word in out for word in ("features", "labels", "splits"))


def test_info_and_verify_of_other_folders(tmp_path, features_path, capsys):
    (tmp_path / "empty").mkdir()
    for command in ("info", "verify"):
        assert main([command, str(tmp_path / "empty"), str(features_path)]) == 2
        captured = capsys.readouterr()
        assert "dataset.json" in captured.err
        assert str(features_path) in captured.out.replace("\n", "")


def test_verify(folder, capsys):
    assert main(["verify", str(folder)]) == 0
    assert capsys.readouterr().out.count("no problems") == len(FILES) + 1  # and the folder
    with (folder / "labels.gd").open("r+b") as file:
        file.seek(65536)
        file.write(b"x")
    assert main(["verify", "--json", "--no-progress", str(folder)]) == 1
    found = json.loads(capsys.readouterr().out)
    wrong = [file["path"] for file in found if not file["ok"]]
    assert wrong == [str(folder / "labels.gd"), str(folder)]
    (folder / "features" / "y.gd").unlink()
    assert main(["verify", str(folder)]) == 1
    captured = capsys.readouterr()
    assert f"{folder}: dataset" in captured.out
    assert "features/y.gd, header, byte 0: [Errno 2] No such file" in captured.out
    assert captured.out.count("no problems") == len(FILES) - 2


MIXED = [
    ("features/x.gd", "header, byte 56: .* number their nodes in different orders"),
    ("labels.gd", "header, byte 56: .* number their nodes in different orders"),
    ("edge_features/w.gd", r"header, byte 40: .*w\.gd has 4 rows, but .* has 3 edges"),
    ("splits/test.gd", "matrix, byte 65536: .* row 0 of split 'test' is 7, and there are 3 nodes"),
]


@pytest.mark.parametrize("has_list", [True, False])
@pytest.mark.parametrize("mixed", MIXED)
def test_verify_of_mixed_files(mixed, has_list, folder, tmp_path, capsys):
    """Files that are fine by themselves."""
    file, message = mixed
    gm.compile_dataset(
        tmp_path / "other",
        edges=([0, 0, 1, 1], [1, 2, 2, 0]),
        features={"x": np.eye(3)},
        edge_features={"w": [1.0, 2.0, 3.0, 4.0]},
        labels=[0, 1, 2],
        splits={"test": [0]},
    )
    gm.compile_features([7], tmp_path / "other" / "splits" / "test.gd")
    shutil.copy(tmp_path / "other" / file, folder / file)
    if not has_list:
        without_list(folder)
    assert main(["verify", str(folder)]) == 1
    out = capsys.readouterr().out
    assert re.search(f"{file}, {message}", out)
    assert out.count("no problems") == len(FILES)
    is_told = re.search(
        rf"{file}, header, byte 4088: .* is not the file that dataset\.json lists", out
    )
    assert (is_told is not None) == has_list
    with pytest.raises((gm.errors.GraphmountError, OSError)):
        _ = gm.Dataset(folder).splits


def test_verify_by_function(folder):
    found = gm.verify(folder)
    assert (found.ok, found.kind, found.path) == (True, "dataset", str(folder))
    assert [file.path for file in found.files] == [str(folder / name) for name in FILES]
    assert found.file_bytes == sum((folder / name).stat().st_size for name in FILES)


def test_verify_progress_of_a_folder(folder):
    calls = []
    gm.verify(folder, progress=lambda done, total: calls.append((done, total)))
    assert calls == sorted(calls)
    assert calls[-1] == (calls[0][1], calls[0][1])
