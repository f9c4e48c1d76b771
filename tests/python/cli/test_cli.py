"""The command line: info and verify, for people and as JSON."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import graphmount as gm
from graphmount.cli import main


def test_info_of_a_graph(graph_path, capsys):
    assert main(["info", str(graph_path)]) == 0
    out = capsys.readouterr().out
    assert str(graph_path) in out.replace("\n", "")
    for text in (
        "directed, neighbor lists: in+out",
        "weights, timestamps, external node ids (str)",
        "in-degrees: mean 6.00",
        "out-degrees: mean 6.00",
        "4 - 7",
        "█",
        "indices (in)     ",
        "alias table (out)",
    ):
        assert text in out


def test_info_of_features_and_several_files(features_path, graph_path, capsys):
    assert main(["info", str(features_path), str(graph_path)]) == 0
    out = capsys.readouterr().out
    assert "matrix of 100 x 24, float32" in out
    assert "bytes per row  96" in out
    assert "nodes" in out


def test_info_of_quantized_features(tmp_path, capsys):
    gm.compile_features([[1.0, 2.0]], tmp_path / "x.gd", quantize="column")
    assert main(["info", str(tmp_path / "x.gd")]) == 0
    text = capsys.readouterr().out
    assert "a scale for each column" in text
    assert re.search(r"scales +float32 +2 +8 B", text)


def test_info_of_undirected_empty_and_odd_names(tmp_path, capsys):
    gm.compile_graph(([0], [1]), tmp_path / "u.gl", directed=False)
    gm.compile_graph(([], []), tmp_path / "[red]empty.gl", num_nodes=0)
    gm.compile_features([], tmp_path / "nothing.gd", dtype="int8")
    names = ["u.gl", "[red]empty.gl", "nothing.gd"]
    assert main(["info", *(str(tmp_path / name) for name in names)]) == 0
    out = capsys.readouterr().out
    assert "undirected, neighbor lists: one copy for both directions" in out
    assert "[red]empty.gl" in out.replace("\n", "")
    assert "vector of 0, int8" in out


def test_info_as_json(graph_path, features_path, capsys):
    assert main(["info", "--json", str(graph_path), str(features_path)]) == 0
    graph, features = json.loads(capsys.readouterr().out)
    assert graph["kind"] == "graph"
    assert graph["num_nodes"] == 50
    assert graph["bytes_per_edge"] == graph["file_bytes"] / 300
    assert sum(count for _, _, count in graph["degrees"]["out"]["histogram"]) == 50
    assert graph["sections"][0]["name"] == "indptr (in)"
    assert features["shape"] == [100, 24]
    assert features["dtype"] == "float32"
    assert features["row_bytes"] == 96


def test_verify(graph_path, features_path, capsys):
    assert main(["verify", str(graph_path), str(features_path)]) == 0
    assert capsys.readouterr().out.count("no problems") == 2
    data = bytearray(features_path.read_bytes())
    data[65536] ^= 1
    data[-1] = 1
    features_path.write_bytes(data)
    assert main(["verify", str(graph_path), str(features_path)]) == 1
    out = capsys.readouterr().out
    assert f"{features_path}: features, 192.0 KiB, 2 problems" in out
    assert "  matrix, byte 65536: the checksum of chunk 0 (9600 bytes) does not match" in out
    assert "  padding, byte 196607: " in out


def test_verify_as_json(features_path, tmp_path, capsys):
    (tmp_path / "text.gl").write_text("0 1\n")
    status = main(["verify", "--json", str(features_path), str(tmp_path / "text.gl")])
    assert status == 2
    captured = capsys.readouterr()
    fine, stranger = json.loads(captured.out)
    assert fine["ok"]
    assert fine["problems"] == []
    assert "looks like text" in stranger["error"]
    assert captured.err.startswith("graphmount: ")


def test_verify_shows_no_more_than_a_hundred(tmp_path, capsys):
    gm.compile_features(np.zeros((150, 1 << 20), np.uint8), tmp_path / "x.gd")
    with (tmp_path / "x.gd").open("r+b") as file:
        for chunk in range(150):
            file.seek(65536 + (chunk << 20))
            file.write(b"x")
    assert main(["verify", str(tmp_path / "x.gd"), "--no-progress"]) == 1
    out = capsys.readouterr().out
    assert "150 problems" in out
    assert out.rstrip().endswith("and 50 more")


def test_info_goes_on_after_a_bad_file(features_path, capsys):
    assert main(["info", "nothing.gl", str(features_path)]) == 2
    captured = capsys.readouterr()
    assert "No such file" in captured.err
    assert "100 x 24" in captured.out


def test_info_of_a_damaged_graph_in_a_confusing_folder(graph_path, tmp_path, capsys):
    folder = tmp_path / "FeatureStore"
    folder.mkdir()
    (folder / "g.gl").write_bytes(graph_path.read_bytes()[:5000])
    assert main(["info", str(folder / "g.gl")]) == 2
    assert "truncated" in capsys.readouterr().err


def test_info_where_only_ascii_can_be_shown(graph_path):
    result = subprocess.run(
        [sys.executable, "-m", "graphmount", "info", graph_path],
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "####" in result.stdout


@pytest.mark.parametrize("command", ["info", "verify"])
def test_missing_file(command, capsys):
    assert main([command, "nothing.gl"]) == 2
    assert capsys.readouterr().err.count("No such file or directory: 'nothing.gl'") == 1


@pytest.mark.parametrize("arguments", [[], ["fly"], ["info"], ["verify", "--fast", "x"]])
def test_wrong_usage(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: graphmount" in capsys.readouterr().err


def test_as_a_program(features_path):
    for program in (["-m", "graphmount"], ["-c", "import graphmount.cli; graphmount.cli.main()"]):
        result = subprocess.run(
            [sys.executable, *program, "info", features_path],
            capture_output=True,
            text=True,
            check=True,
        )
        assert "100 x 24" in result.stdout
        assert result.stderr == ""
    result = subprocess.run(
        [sys.executable, "-m", "graphmount", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout == f"graphmount {gm.__version__}\n"
