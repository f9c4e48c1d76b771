"""The command line: compile graph and compile features; what they say, and how they fail."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import graphmount as gm
from graphmount.cli import main
from graphmount.cli.compile.messages import with_flags
from graphmount.cli.compile.options import columns, delimiter, shape


@pytest.fixture(autouse=True)
def _inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name, text):
    with open(name, "w") as file:
        file.write(text)


def run(*arguments):
    return main([str(argument) for argument in ("compile", *arguments)])


def neighbors(path, node, direction="in"):
    return gm.Graph(path).neighbors(node, direction=direction).tolist()


def test_graph(capsys):
    write("edges.csv", "0,1\n1,2\n0,2\n")
    assert run("graph", "edges.csv", "g.gl") == 0
    out = capsys.readouterr().out
    assert "g.gl: 3 nodes, 3 edges, 448.0 KiB in " in out
    assert "edges/s)" in out
    assert "skipped" not in out
    assert neighbors("g.gl", 2) == [0, 1]


def test_graph_with_everything(capsys):
    write("a.txt", "! who|whom|w|t\nann|bob|0.5|3\nbob|ann|2|1\n")
    write("b.txt", "! who|whom|w|t\nbob|ann|1|1\nann|ann|1|9\n")
    options = "--ids map --key-type str --columns 0,1 --weights 2 --timestamps 3 --delimiter |"
    options += " --no-header --comments ! --undirected --dedup sum --self-loops drop"
    options += " --index-dtype int64 --neighbors in --memory 100MB --tmp . --no-progress"
    assert run("graph", *options.split(), "a.txt", "b.txt", "g.gl") == 0
    assert "2 nodes, 4 edges" in capsys.readouterr().out
    graph = gm.Graph("g.gl")
    assert (graph.directed, graph.to_external([0, 1])) == (False, ["ann", "bob"])
    lists = graph.neighbor_lists("in")
    assert lists.indices.dtype == np.int64
    assert lists.weights.tolist() == [3.0, 0.5, 3.0, 0.5]
    assert lists.timestamps.tolist() == [1, 3, 1, 3]


def test_graph_by_names_and_with_header(capsys):
    write("e.tsv", "w\tto\tfrom\n1\t5\t4\n")
    assert run("graph", "e.tsv", "g.gl", "--columns", "from,to", "--header", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["num_nodes"], facts["num_edges"], facts["skipped"]) == (6, 1, 0)
    assert neighbors("g.gl", 5) == [4]


def test_graph_of_other_files():
    np.save("src.npy", [0, 1])
    np.save("dst.npy", [1, 2])
    np.save("w.npy", [0.5, 1.5])
    assert run("graph", "--pair", "src.npy", "dst.npy", "pair.gl", "--weights", "w.npy") == 0
    assert gm.Graph("pair.gl").neighbor_lists("in").weights.tolist() == [0.5, 1.5]
    assert run("graph", "--pair", "src.npy", "pair.gl") == 2
    np.savez("e.npz", both=[[0, 1], [1, 2]])
    assert run("graph", "e.npz", "npz.gl", "--columns", "both", "--num-nodes", 7) == 0
    assert gm.Graph("npz.gl").num_nodes == 7
    np.array([[0, 1], [2, 1]], np.int32).tofile("e.bin")
    assert run("graph", "e.bin", "bin.gl", "--shape", "2,2", "--dtype", "int32") == 0
    assert neighbors("bin.gl", 2) == [0]  # of shape (2, edges)
    assert run("graph", "e.bin", "bin.gl", "--shape=2,-1", "--dtype", "int32") == 0
    assert neighbors("bin.gl", 2) == [0]


def test_skipped_rows(capsys):
    write("e.csv", "0,1\n" + "x,1\n" * 5 + "1,0\n")
    assert run("graph", "e.csv", "g.gl", "--on-error", "skip") == 0
    out = capsys.readouterr().out
    assert "2 edges" in out
    assert "skipped 5 rows:\n  e.csv, line 2, column 1: " in out
    assert out.endswith("...\n")


def test_features(capsys):
    np.save("x.npy", np.arange(6.0).reshape(3, 2))
    assert run("features", "x.npy", "x.gd", "--dtype", "float16") == 0
    assert "x.gd: 3 x 2 float16, 192.0 KiB in " in capsys.readouterr().out
    assert gm.FeatureStore("x.gd").numpy().tolist() == [[0, 1], [2, 3], [4, 5]]


def test_features_with_keys(capsys):
    write("e.csv", "ann,bob\nbob,eve\n")
    write("x.csv", "name;a;b;c\neve;1;2.5;nan\nann;3;4;5\neve;6;7;8\nzoe;0;0;0\n")
    assert run("graph", "e.csv", "g.gl", "--ids", "map") == 0
    options = "--order g.gl --key name --columns c,a --missing -1 --repeated first --nan 0.5"
    options += " --dtype float32 --on-error skip --delimiter ; --tmp . --memory 64MiB --no-progress"
    capsys.readouterr()
    assert run("features", "x.csv", "x.gd", *options.split()) == 0
    assert gm.FeatureStore("x.gd").numpy().tolist() == [[5, 3], [-1, -1], [0.5, 1]]
    gm.check_order(gm.Graph("g.gl"), gm.FeatureStore("x.gd"))
    out = capsys.readouterr().out
    assert "3 x 2 float32, 1 row missing, 1 repeated row dropped" in out
    assert "skipped 1 row:\n  x.csv, row 3: no node of " in out


def test_features_of_other_files(capsys):
    np.savez("x.npz", a=[[1.0, -2.0]], b=[5])
    assert run("features", "x.npz", "x.gd", "--member", "a", "--quantize", "column") == 0
    assert gm.FeatureStore("x.gd").scales.tolist() == pytest.approx([1 / 127, 2 / 127])
    np.arange(6, dtype=np.float32).tofile("x.bin")
    options = ("--shape", "2x3", "--source-dtype", "float32", "--dtype", "int8", "--num-nodes", "2")
    assert run("features", "x.bin", "x.gd", *options, "--json") == 0
    assert json.loads(capsys.readouterr().out.partition("\n")[2])["dtype"] == "int8"
    write("x.csv", "0,1,2,3,4\n5,6,7,8,9\n")
    assert run("features", "x.csv", "x.gd", "--columns", "4,1-2", "--no-header") == 0
    assert gm.FeatureStore("x.gd").numpy().tolist() == [[4, 1, 2], [9, 6, 7]]


def test_features_of_edges():
    np.save("e.npy", [[1, 0, 2], [2, 2, 0]])
    np.save("w.npy", [10.0, 20.0, 30.0])
    assert run("graph", "e.npy", "g.gl", "--source-rows") == 0
    assert run("features", "w.npy", "w.gd", "--edges", "g.gl") == 0
    assert gm.FeatureStore("w.gd").numpy().tolist() == [30.0, 20.0, 10.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("graph no.csv g.gl", "No such file or directory: 'no.csv'"),
        ("graph no*.csv g.gl", "no file matches 'no*.csv'"),
        ("graph names.csv g.gl", "'ann' is not a node id"),
        ("graph names.csv g.gl --ids map --weights w", "no column is called 'w'"),
        ("graph names.csv g.gl --ids map --memory 1MB", "--memory 1MB is too little"),
        ("graph names.csv g.gl --ids map --dedup sum", "--dedup sum adds up weights"),
        ("graph empty.csv g.gl", "empty.csv"),
        ("graph names.csv g.gl --ids map --num-nodes -3", "num_nodes must be at least 0"),
        ("graph names.csv no/g.gl --ids map", "No such file or directory"),
        ("features names.csv x.gd", "names.csv"),
        ("features 5.npy x.gd --key a", "--key a means nothing for 5.npy"),
        ("features 5.npy x.gd --dtype float8", "float8"),
        ("features 5.npy x.gd --num-nodes 7", "5.npy has 5 rows, but --num-nodes 7"),
        ("features 5.npy x.gd --order 5.npy", "5.npy"),
        ("features 5.npy x.gd --edges plain.gl", "compile it with --source-rows"),
        ("features 5.npy x.gd --edges plain.gl --order plain.gl", "--edges does not go with --key"),
    ],
)
def test_errors_are_one_line(arguments, message, capsys):
    write("names.csv", "ann,bob\n")
    write("empty.csv", "")
    np.save("5.npy", np.arange(5.0))
    gm.compile_graph(([0], [1]), "plain.gl")
    assert run(*arguments.split()) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("graphmount: ")
    assert captured.err.count("\n") == 1
    assert message in captured.err


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "tree a b",
        "graph",
        "graph a.csv",
        "graph a.csv b.csv",  # where the file to write was forgotten
        "features a.npy b.npy",
        "graph a.csv g.gl --memory lots",
        "graph a.csv g.gl --shape many",
        "graph a.csv g.gl --ids names",
        "features x.npy x.gd --missing nothing",
        "features x.npy x.gd --quantize row",
        "ogb folder",
        "ogb folder out --order cold",
    ],
)
def test_wrong_usage(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        run(*arguments.split())
    assert caught.value.code == 2
    error = capsys.readouterr().err
    assert "usage: graphmount compile" in error
    assert error.count("\n") < 5


@pytest.mark.parametrize("kind", ["", "graph", "features", "known"])
def test_help(kind, capsys):
    with pytest.raises(SystemExit) as caught:
        run(*kind.split(), "--help")
    assert caught.value.code == 0
    out = capsys.readouterr().out
    assert out.isascii()
    if kind:
        assert f"graphmount compile {kind} [OPTIONS]" in out
        assert all(option in out for option in ("--memory", "--json", "--no-progress", "--tmp"))


def test_values():
    assert columns("a,3,5-7,x-1,-") == ["a", 3, 5, 6, 7, "x-1", "-"]
    assert [delimiter(text) for text in ("tab", "\\t", ";", "space")] == ["\t", "\t", ";", " "]
    assert shape("10x20") == shape("10,20") == (10, 20)
    assert shape("7") == (7,)
    assert shape("-1,128") == (-1, 128)


def test_messages_speak_of_flags():
    assert with_flags("pass ids='map', or\n num_nodes= if so") == (
        "pass --ids map, or --num-nodes if so"
    )
    assert with_flags("key_type=\"str\"; header=False, on_error='skip'") == (
        "--key-type str; --no-header, --on-error skip"
    )
    assert with_flags("directed=False and overwrite=True; dtype=''") == (
        "--undirected and --overwrite; --dtype ''"
    )
    assert with_flags("my_ids='map' == x=1") == "my_ids='map' == x=1"


def test_as_a_program():
    write("e.csv", "0,1\n")
    program = [sys.executable, "-m", "graphmount", "compile", "graph"]
    done = subprocess.run([*program, "e.csv", "g.gl"], capture_output=True, text=True, check=True)
    assert "1 edge, " in done.stdout
    assert done.stderr == ""
    failed = subprocess.run(
        [*program, "no.csv", "g.gl"], capture_output=True, text=True, check=False
    )
    assert failed.returncode == 2
    assert failed.stderr == "graphmount: [Errno 2] No such file or directory: 'no.csv'\n"
