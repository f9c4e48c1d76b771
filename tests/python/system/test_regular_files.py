"""Pipes, sockets, devices and terminals are refused wherever a file is expected; nobody waits."""

from __future__ import annotations

import gzip
import os
import signal
import socket
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from draining import drain_edges, drain_rows
from open_sources import open_edges, open_rows

import graphmount as gm
import graphmount.graphzero as gz
from graphmount._sources.layouts.recognition import find_layout
from graphmount.cli import main

KINDS = {
    "pipe": "a named pipe",
    "socket": "a socket",
    "device": "a device or terminal",
    "terminal": "a device or terminal",
}


@pytest.fixture(autouse=True)
def nobody_waits():
    """Whoever waits for a pipe is woken by an error, rather than never."""

    def wake(*_):
        raise AssertionError("waited for something that is not a regular file")

    before = signal.signal(signal.SIGALRM, wake)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def make_strange():
    """Puts something that is not a regular file at a path."""
    opened = []

    def make(kind, path):
        path = os.fspath(path)
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "socket":
            server = socket.socket(socket.AF_UNIX)
            opened.append(server.close)
            folder = os.open(os.path.dirname(path), os.O_RDONLY)
            opened.append(lambda: os.close(folder))
            server.bind(f"/proc/self/fd/{folder}/{os.path.basename(path)}")  # names are short there
        elif kind == "device":
            os.symlink("/dev/zero", path)
        else:
            ends = os.openpty()
            opened.extend([lambda: os.close(ends[0]), lambda: os.close(ends[1])])
            os.symlink(os.ttyname(ends[1]), path)
        return path

    yield make
    for close in opened:
        close()


CALLS = {
    "a graph": lambda path, _: gm.Graph(path),
    "features": lambda path, _: gm.FeatureStore(path),
    "verify": lambda path, _: gm.verify(path),
    "edges": gm.compile_graph,
    "edges, listed": lambda path, out: gm.compile_graph([path, path], out),
    "edges, binary": lambda path, out: gm.compile_graph(path, out, shape=(2, -1), dtype="int64"),
    "rows": gm.compile_features,
    "rows, binary": lambda path, out: gm.compile_features(path, out, shape=(2,), dtype="int64"),
    "order": lambda path, out: gm.compile_features([1.0], out, order=path),
    "edge table": lambda path, out: gm.compile_features([1.0], out, edges=path),
    "weights": lambda path, out: gm.compile_graph(([0], [1]), out, weights=path),
    "dataset": lambda path, out: gm.compile_dataset(out, edges=path),
    "labels": lambda path, out: gm.compile_dataset(out, edges=([0], [1]), labels=path),
    "splits": lambda path, out: gm.compile_dataset(
        out, edges=([0], [1]), splits={"train": path}, progress=False
    ),
    "graphzero graph": lambda path, _: gz.Graph(path),
    "graphzero features": lambda path, _: gz.FeatureStore(path),
    "graphzero csv": gz.convert_csv_to_gl,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CALLS)
def test_refused_wherever_a_file_is_read(name, kind, make_strange, tmp_path):
    path = make_strange(kind, tmp_path / "x.npy")
    with pytest.raises((OSError, RuntimeError), match=KINDS[kind]) as caught:
        CALLS[name](path, tmp_path / "out")
    assert path in str(caught.value)
    assert sorted(os.listdir(tmp_path)) == ["x.npy"]


@pytest.mark.parametrize("kind", KINDS)
def test_refused_as_an_output(kind, make_strange, tmp_path):
    path = make_strange(kind, tmp_path / "out")
    for write in (
        lambda: gm.compile_graph(([0], [1]), path),
        lambda: gm.compile_features([1], path),
    ):
        with pytest.raises(OSError, match=f"cannot replace a special file.*{KINDS[kind]}"):
            write()
    with pytest.raises(OSError, match=r"is not replaced|choose another one"):
        gm.compile_dataset(path, edges=([0], [1]), overwrite=True)
    assert os.listdir(tmp_path) == ["out"]


def test_a_folder_with_a_pipe_in_it(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "0.csv").write_text("0,1\n")
    os.mkfifo(tmp_path / "parts" / "1.csv")
    with pytest.raises(OSError, match="a named pipe"):
        gm.compile_graph(tmp_path / "parts", tmp_path / "g.gl")
    assert gm.compile_graph(str(tmp_path / "parts" / "*.csv"), tmp_path / "g.gl").num_edges == 1


def write_sources(folder):
    """One small file of each kind, by its name."""
    edges = np.array([[0, 1], [1, 2]])
    np.save(folder / "e.npy", edges)
    edges.tofile(folder / "e.bin")
    np.savez(folder / "e.npz", edge_index=edges)
    np.savez_compressed(folder / "packed.npz", edge_index=edges)
    (folder / "e.csv").write_text("0,1\n1,2\n")
    (folder / "e.csv.gz").write_bytes(gzip.compress(b"0,1\n1,2\n"))
    text = "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n"
    (folder / "e.mtx").write_text(text)
    (folder / "e.mtx.gz").write_bytes(gzip.compress(text.encode()))
    gm.compile_graph(edges, folder / "e.gl")


@pytest.mark.parametrize(
    "name",
    ["e.npy", "e.bin", "e.npz", "packed.npz", "e.csv", "e.csv.gz", "e.mtx", "e.mtx.gz"],
)
def test_replaced_by_a_pipe_after_it_was_opened(name, tmp_path):
    write_sources(tmp_path)
    options = {"shape": (2, 2), "dtype": "int64"} if name == "e.bin" else {}
    source = open_edges(tmp_path / name, **options)
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    with pytest.raises((OSError, gm.errors.SourceError), match="a named pipe"):
        drain_edges(source)


@pytest.mark.parametrize("ending", ["parquet", "arrow", "orc"])
def test_tables_replaced_by_a_pipe(ending, tmp_path):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"src": [0, 1], "dst": [1, 2]})
    path = tmp_path / f"e.{ending}"
    if ending == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, path)
    elif ending == "orc":
        pytest.importorskip("pyarrow.orc").write_table(table, path)
    else:
        with pa.ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table)
    source = open_edges(path)
    path.unlink()
    os.mkfifo(path)
    try:
        edges = drain_edges(source)
    except (OSError, gm.errors.SourceError) as error:
        assert "a named pipe" in str(error)  # noqa: PT017
    else:
        assert edges.src == [0, 1]  # of the file that it has open


def test_regular_files_by_other_names(tmp_path):
    """What leads to a regular file is one: a link, a descriptor, redirected standard input."""
    (tmp_path / "e.csv").write_text("0,1\n1,2\n")
    with open(tmp_path / "e.csv", "rb") as file:
        path = f"/proc/self/fd/{file.fileno()}"
        assert gm.compile_graph(path, tmp_path / "g.gl").num_edges == 2
        command = [sys.executable, "-m", "graphmount", "compile", "graph", "/dev/stdin"]
        subprocess.run([*command, tmp_path / "h.gl"], stdin=file, check=True, timeout=60)
    assert gm.Graph(tmp_path / "h.gl").num_edges == 2
    piped = subprocess.run(
        [*command, tmp_path / "i.gl"],
        input=b"0,1\n",
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert piped.returncode == 2
    assert b"a named pipe, not a regular file" in piped.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_commands(kind, make_strange, tmp_path, capsys):
    path = make_strange(kind, tmp_path / "x")
    out = str(tmp_path / "out")
    for arguments in (
        ["info", path],
        ["verify", path],
        ["compile", "graph", path, f"{out}.gl"],
        ["compile", "features", path, f"{out}.gd"],
        ["doctor", path],
        ["doctor", "--json", path, "--seconds", "0.1"],
        ["bench", "report", path],
        ["bench", "compare", path, path],
    ):
        assert main(arguments) in (1, 2), arguments
        shown = capsys.readouterr()
        expected = "Not a folder" if arguments == ["doctor", path] else KINDS[kind]
        assert expected in shown.err + shown.out, arguments
    assert os.listdir(tmp_path) == ["x"]


def test_layouts(tmp_path):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "edge.csv.gz").write_bytes(gzip.compress(b"0,1\n"))
    os.mkfifo(tmp_path / "raw" / "num-node-list.csv.gz")
    with pytest.raises(OSError, match="a named pipe"):
        find_layout(tmp_path)


def test_archives_are_closed(tmp_path):
    """What is refused or read to its end leaves no open file behind."""
    np.savez(tmp_path / "x.npz", x=np.ones((3, 2)))
    (tmp_path / "bad.npz").write_bytes(b"PK\x03\x04 and no more")
    before = len(os.listdir("/proc/self/fd"))
    assert len(drain_rows(open_rows(tmp_path / "x.npz"))[0]) == 3
    with pytest.raises(gm.errors.SourceError, match="not a zip archive"):
        open_rows(tmp_path / "bad.npz")
    assert len(os.listdir("/proc/self/fd")) == before
    assert zipfile.is_zipfile(tmp_path / "x.npz")
