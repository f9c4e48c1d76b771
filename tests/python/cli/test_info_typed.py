"""The commands on datasets of many node types: what they show, and what they refuse."""

from __future__ import annotations

import json

import numpy as np
import pytest

import graphmount as gm
from graphmount.cli import main


@pytest.fixture
def path(tmp_path):
    gm.compile_dataset(
        tmp_path / "ds",
        nodes={
            "paper": gm.Nodes(
                features={"x": np.eye(3)},
                labels=["b", "a", "b"],
                splits={"train": [1]},
                timestamps=[1, 2, 3],
            ),
            "author": gm.Nodes(num_nodes=4),
        },
        edges={("author", "writes", "paper"): ([0, 1, 1], [2, 2, 0])},
        edge_features={("author", "writes", "paper"): {"w": np.eye(3)}},
        notes=["made for a test"],
    )
    return tmp_path / "ds"


def test_info_on_a_terminal(path, capsys):
    assert main(["info", str(path)]) == 0
    text = capsys.readouterr().out
    for words in (
        "of many node types",
        "7 in all, in the order 'hot'",
        "type 'paper'",
        "3 nodes; features x; splits train; labels; times",
        "author - writes - paper",
        "3 edges; features w",
        "made for a test",
        "of 4 nodes of one type (int)",
        "class",
    ):
        assert words in text, words


def test_info_as_json(path, capsys):
    assert main(["info", "--json", str(path)]) == 0
    dataset, *files = json.loads(capsys.readouterr().out)
    assert dataset["node_types"]["paper"]["classes"] == ["a", "b"]
    assert dataset["edge_types"][0]["relation"] == ["author", "writes", "paper"]
    assert len(files) == 8
    labels = next(file for file in files if file.get("role") == "labels")
    assert labels["class_counts"][0] == {"label": 1, "name": "b", "nodes": 2}


def test_info_as_a_page(path, tmp_path):
    pytest.importorskip("matplotlib")
    assert main(["info", "--html", str(tmp_path / "page.html"), str(path)]) == 0
    assert "author - writes - paper" in (tmp_path / "page.html").read_text()


def test_verify(path, capsys):
    assert main(["verify", str(path)]) == 0
    (path / "nodes/paper/labels.gd").unlink()
    assert main(["verify", str(path)]) != 0
    assert "labels.gd" in capsys.readouterr().out


def test_what_is_for_one_type(path):
    with pytest.raises(ValueError, match="examining a dataset is for datasets of one node type"):
        gm.doctor.examine(dataset=path)
    with pytest.raises((TypeError, ValueError), match="input_nodes must be a node type"):
        gm.NeighborLoader(gm.Dataset(path), [2], batch_size=1)
