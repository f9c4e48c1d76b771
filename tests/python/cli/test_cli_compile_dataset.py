"""The command line: compile dataset."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import graphmount as gm
from graphmount.cli import main


@pytest.fixture(autouse=True)
def _inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("edges.csv").write_text("0,1\n1,2\n3,0\n")
    Path("follows.csv").write_text("w,who,whom\n1,ann,bob\n2,bob,cay\n")
    Path("people.csv").write_text(
        "name,age,height,team,fold\nann,47,2,red,train\nbob,25,1,blue,test\ncay,31,3,red,\n"
    )


def run(*arguments):
    return main(["compile", "dataset", *arguments, "--no-progress"])


def test_arrays(capsys):
    np.save("x.npy", np.arange(8, dtype=np.float32).reshape(4, 2))
    np.save("y.npy", np.array([3, 1, 0, 2]))
    np.save("w.npy", np.array([[1.0], [2.0], [3.0]], np.float32))
    Path("train.txt").write_text("0\n3\n")
    np.save("test.npy", np.array([1]))
    options = "--edges edges.csv --features x=x.npy --labels y.npy --edge-features w=w.npy"
    options += " --splits train=train.txt --splits test=test.npy --order given --dtype float16 out"
    assert run(*options.split()) == 0
    said = capsys.readouterr().out
    assert "out: 4 nodes, 3 edges, features 'x', edge_features 'w', labels, split 'train'" in said
    ds = gm.Dataset("out")
    assert (ds.features["x"].dtype, ds.labels.tolist()) == ("float16", [3, 1, 0, 2])
    assert {name: nodes.tolist() for name, nodes in ds.splits.items()} == {
        "train": [0, 3],
        "test": [1],
    }
    assert run(*options.split()) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert run(*options.split(), "--overwrite", "--json") == 0
    assert json.loads(capsys.readouterr().out)["num_edges"] == 3


@pytest.mark.parametrize("splits", ["people.csv:fold", "fold"])
def test_columns_of_text(capsys, splits):
    options = "--edges follows.csv:who,whom --weights w --ids map --key name --undirected"
    options += " --features size=people.csv:height,age --features age=people.csv:age"
    options += f" --labels people.csv:team --splits {splits} out"
    assert run(*options.split()) == 0
    assert "labels of 2 classes, split 'test', split 'train'" in capsys.readouterr().out
    ds = gm.Dataset("out")
    nodes = ds.to_internal(["ann", "bob", "cay"])
    assert ds.features["size"].gather(nodes).tolist() == [[2, 47], [1, 25], [3, 31]]
    assert ds.classes == ["blue", "red"]
    assert ds.labels[nodes].tolist() == [1, 0, 1]
    assert ds.to_external(ds.splits["train"]) == ["ann"]
    assert (ds.graph.has_weights, ds.graph.directed) == (True, False)


def test_several_files_and_options_of_text():
    Path("a.txt").write_text("0;1\n")
    Path("b.txt").write_text("1;2\n")
    Path("y:1.txt").write_text("7\n8\n9\n")  # a file, in spite of the colon
    options = "--edges a.txt --edges b.txt --delimiter ; --no-header --labels y:1.txt out"
    assert run(*options.split()) == 0
    ds = gm.Dataset("out")
    assert ds.num_edges == 2
    assert ds.labels[ds.to_internal([0, 1, 2])].tolist() == [7, 8, 9]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--features x.npy", "--features 'x.npy' is not NAME=PATH"),
        ("--features x=a.npy --features x=b.npy", "a.npy"),
        ("--labels edges.csv:0 --labels edges.csv:1", "--labels is there twice"),
        ("--splits a=edges.csv --splits b", "--splits 'b' is not NAME=PATH"),
        ("--splits a=edges.csv --splits a=edges.csv", "--splits a=… is there twice"),
        ("--splits fold", "neither labels nor features"),
        ("--edges follows.csv:1,2", "other columns"),
        ("--labels people.csv:team", "1 of 4 nodes have no row"),
    ],
)
def test_what_is_wrong(capsys, options, message):
    assert run("--edges", "edges.csv", *options.split(), "out") == 2
    assert message in capsys.readouterr().err
    assert not Path("out").exists()
