"""Paths that are not there: the command line says which one may be meant, and how columns are."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphmount as gm
from graphmount._support.files.near_names import near_path
from graphmount.cli import main


@pytest.fixture(autouse=True)
def club(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    gm.compile_dataset("club", edges=([0, 1], [1, 2]), splits={"train": [0]})
    gm.compile_graph(([0, 1], [1, 2]), "web.gl")
    Path("people.csv").write_text("name,team\nann,red\nbob,blue\n")
    Path("follows.csv").write_text("from,to\nann,bob\n")
    Path("papers-old").mkdir()  # no dataset
    Path("clubby").mkdir()


@pytest.mark.parametrize(
    ("command", "near"),
    [
        (["info", "clubb"], "'club'"),
        (["info", "clubb/"], "'club'"),
        (["info", "--json", "clubb"], "'club'"),
        (["info", "club/graf.gl"], "'club/graph.gl'"),
        (["info", "wed.gl"], "'web.gl'"),
        (["verify", "clubb"], "'club'"),
        (["verify", "--json", "wep.gl"], "'web.gl'"),
        (["dataset", "remove", "clubb", "train"], "club'"),
        (["doctor", "--dataset", "clubb"], "club'"),
        (["compile", "graph", "followz.csv", "x.gl"], "'follows.csv'"),
        (["compile", "features", "pepole.csv", "x.gd"], "'people.csv'"),
        (["compile", "dataset", "--edges", "followz.csv", "d"], "'follows.csv'"),
    ],
)
def test_near_names(command, near, capsys):
    assert main(command) == 2
    message = capsys.readouterr().err
    assert "did you mean " in message
    assert message.endswith(f"{near}?\n")


@pytest.mark.parametrize(
    "command",
    [
        ["info", "nothing-like-it"],
        ["info", "no.gl"],  # the ending alone is no likeness
        ["verify", "nosuchfolder/club"],
        ["compile", "graph", "follows.csv", "clubb/x.gl"],  # to be written: another matter
    ],
)
def test_no_guess(command, capsys):
    assert main(command) == 2
    assert "did you mean" not in capsys.readouterr().err


def test_other_files_are_still_shown(capsys):
    assert main(["verify", "clubb", "web.gl"]) == 2
    captured = capsys.readouterr()
    assert "did you mean 'club'?" in captured.err
    assert "web.gl: graph" in captured.out


def test_only_what_can_be_opened_is_near():
    assert near_path("papers-ol", marker="dataset.json") is None
    assert near_path("clubb", marker="dataset.json") == "club"
    assert near_path(Path("club") / "dataset.jso", marker="x") == "club/dataset.json"


def test_columns_without_their_file(capsys):
    edges = ["compile", "dataset", "--edges", "follows.csv:from,to", "--ids", "map"]
    assert main([*edges, "--key", "name", "--labels", "team", "d"]) == 2
    assert "if this is a column of one, write PATH:team with the path" in capsys.readouterr().err
    assert main([*edges, "--splits", "train=team", "d"]) == 2
    assert "write --splits PATH:team with the path of that file" in capsys.readouterr().err
    told = ["--key", "name", "--labels", "people.csv:team", "--splits", "people.csv:team"]
    assert main([*edges, *told, "d"]) == 0
    assert gm.Dataset("d").classes == ["blue", "red"]
