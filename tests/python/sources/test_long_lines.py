"""Text without line breaks, or with a million columns: refused by line, in little memory."""

from __future__ import annotations

import gzip
import subprocess
import sys

import pytest
from open_sources import open_edges
from run_mode import IS_SANITIZED

import graphmount as gm
from graphmount._sources.text.matrix_market import MatrixMarketEdges
from graphmount.errors import SourceError

PEAK = """
import sys
import graphmount as gm
def peak():
    status = open("/proc/self/status").read()
    return int(status.split("VmHWM:")[1].split()[0]) << 10
open(sys.argv[1] + ".small", "w").write("0 1\\n" * 9)
gm.compile_graph(sys.argv[1] + ".small", sys.argv[1] + ".gl")
before = peak()
try:
    if sys.argv[2] == "edges":
        gm.compile_graph(sys.argv[1], sys.argv[1] + ".gl", memory="64MiB", on_error=sys.argv[3])
    else:
        gm.compile_features(sys.argv[1], sys.argv[1] + ".gd", memory="64MiB", on_error=sys.argv[3])
except gm.errors.SourceError as error:
    print(error)
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize(
    ("kind", "on_error", "word", "is_first", "is_compressed"),
    [
        ("edges", "raise", b"1 ", False, False),
        ("edges", "skip", b",", True, False),
        ("edges", "skip", b"1", False, True),
        ("rows", "raise", b"12,", True, False),
        ("rows", "skip", b"1\t", False, True),
    ],
)
def test_memory(*, kind, on_error, word, is_first, is_compressed, tmp_path, campaign):
    if IS_SANITIZED:
        pytest.skip("sanitizers have memory of their own")
    data = b"" if is_first else word[-1:].join([b"0", b"1"]) + b"\n"
    data += word * (campaign(100 << 20, 640 << 20) // len(word))
    path = tmp_path / "long.txt"
    path.write_bytes(gzip.compress(data, 1) if is_compressed else data)
    result = subprocess.run(
        [sys.executable, "-c", PEAK, path, kind, on_error],
        capture_output=True,
        text=True,
        check=True,
    )
    message, grown = result.stdout.splitlines()
    assert f"long.txt, line {1 if is_first else 2}: longer than" in message
    assert "this does not look like a text table" in message
    assert int(grown) < 64 << 20


def test_advice_on_long_lines(tmp_path):
    """With more memory, lines may be longer: as long as the message says."""
    path = tmp_path / "x.txt"
    path.write_bytes((b"0" * 3_000_000 + b"1,2\n") * 2)  # lines of 3 MB
    with pytest.raises(SourceError, match=r"longer than 2 MiB.*a larger memory= allows lines of u"):
        gm.compile_features(path, tmp_path / "x.gd", memory="64MiB", dtype="int64")
    done = gm.compile_features(path, tmp_path / "x.gd", memory="512MiB", dtype="int64")
    assert done.shape == (2, 2)


def test_many_columns(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(",".join(["1"] * ((1 << 20) + 1)) + "\n")
    with pytest.raises(SourceError, match="cannot be split into columns, of which there are 10485"):
        gm.compile_features(path, tmp_path / "x.gd")
    path.write_text("1 " * ((1 << 20) + 1) + "\n")
    with pytest.raises(SourceError, match=r"cannot be split into columns.*pass delimiter="):
        gm.compile_features(path, tmp_path / "x.gd", delimiter=" ")
    path.write_text('"1",' + ",".join(["1"] * (1 << 20)) + "\n")
    with pytest.raises(SourceError, match="column 1048577: there are more than 1048576 fields"):
        gm.compile_graph(path, tmp_path / "g.gl")


@pytest.mark.parametrize("column", [2**40, 2**62])
def test_columns_that_no_line_has(column, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("0,1\n1,2\n")
    with pytest.raises(SourceError, match=r"x\.csv, line 1"):
        list(open_edges(path, columns=(0, column)).batches(memory=1 << 20))
    with pytest.raises(ValueError, match="columns must be at least 0 and at most"):
        open_edges(path, columns=(0, 10**5000))


@pytest.mark.parametrize("memory", [1, 700, 1 << 20])
@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([b"1 2", b"3 x", b"1" * (1 << 17)], "line 4: expected 2 numbers, found '3 x'"),
        ([b"1 2", b" " * (1 << 17), b"3 x"], "line 4: longer than 64 KiB"),
        ([b"1 2" + b" " * ((1 << 16) - 3), b"3 x"], "line 3: longer than 64 KiB"),
        ([b"1 2" + b" " * ((1 << 16) - 4), b"3 x"], "line 4: expected 2 numbers, found '3 x'"),
    ],
)
def test_first_mistake_of_a_matrix_does_not_depend_on_memory(memory, lines, said, tmp_path):
    """A long line was found, or not, by how much was read at once, and before earlier mistakes."""
    path = tmp_path / "m.mtx"
    head = b"%%MatrixMarket matrix coordinate pattern general\n4 4 3\n"
    path.write_bytes(head + b"\n".join(lines) + b"\n")
    with pytest.raises(SourceError) as caught:
        list(MatrixMarketEdges(str(path), weights=False, on_error="raise").batches(memory=memory))
    assert said in str(caught.value)
