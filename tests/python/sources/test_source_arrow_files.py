"""Files and objects of other libraries that speak Arrow, folders, damage, and memory."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from arrow_files import pa, parquet, stored
from draining import drain_edges, drain_rows
from open_sources import open_edges, open_rows
from run_mode import IS_SANITIZED

from graphmount.errors import SourceError


def test_other_libraries():
    polars = pytest.importorskip("polars")
    duckdb = pytest.importorskip("duckdb")
    pandas = pytest.importorskip("pandas")
    columns = {"src": ["a", "b", "c"], "dst": ["b", "c", "a"], "w": [0.5, 1.5, 2.5]}
    frame = polars.DataFrame(columns)
    connection = duckdb.connect()
    connection.register("edges", pa.table(columns))
    for table in (frame, pandas.DataFrame(columns), connection.sql("select * from edges")):
        source = open_edges(table, weights="w")
        edges = drain_edges(source, memory=500)
        assert edges.pairs == [("a", "b"), ("b", "c"), ("c", "a")]
        assert edges.weights == [0.5, 1.5, 2.5]
    assert open_edges(frame).num_edges == 3
    assert open_edges(frame).name == "a polars DataFrame"
    embedded = polars.DataFrame(
        {"id": ["a", "b"], "x": [[1.0, 2.0], [3.0, 4.0]]},
        schema={"id": polars.String, "x": polars.Array(polars.Float32, 2)},
    )
    rows, keys = drain_rows(open_rows(embedded, key="id"))
    assert (rows.tolist(), keys, rows.dtype) == ([[1, 2], [3, 4]], ["a", "b"], np.float32)


def test_files_of_other_libraries(tmp_path):
    polars = pytest.importorskip("polars")
    duckdb = pytest.importorskip("duckdb")
    pandas = pytest.importorskip("pandas")
    columns = {"src": ["a", "b", "c"], "dst": ["b", "c", "a"]}
    frame = polars.DataFrame(columns)
    frame.write_parquet(tmp_path / "polars.parquet")
    frame.write_ipc(tmp_path / "polars.feather")
    frame.write_ipc_stream(tmp_path / "polars.stream")
    pandas.DataFrame(columns).to_parquet(tmp_path / "pandas.parquet")
    pandas.DataFrame(columns).to_feather(tmp_path / "pandas.feather")
    target = str(tmp_path / "duck.parquet")
    duckdb.connect().from_arrow(pa.table(columns)).write_parquet(target)
    for path in sorted(tmp_path.iterdir()):
        assert drain_edges(open_edges(path)).pairs == [("a", "b"), ("b", "c"), ("c", "a")]


def test_folders_of_files(tmp_path):
    folder = tmp_path / "edges"
    (folder / "year=2021").mkdir(parents=True)
    for number, name in enumerate(["part-0.parquet", "part-1.parquet", "year=2021/x.parquet"]):
        parquet.write_table(pa.table({"a": [number, None], "b": [9, 9]}), folder / name)
    (folder / "_SUCCESS").touch()
    (folder / ".hidden").touch()
    source = open_edges(folder, on_error="skip")
    assert drain_edges(source).src == [0, 1, 2]
    assert source.skipped.count == 3
    assert [f"part-{i}.parquet, row 1" in source.skipped.examples[i] for i in (0, 1)] == [True] * 2
    source = open_edges(f"{folder}/part-*.parquet", on_error="skip")
    assert drain_edges(source).src == [0, 1]
    (folder / "more.csv").write_text("1,2\n")
    with pytest.raises(SourceError, match=r"more\.csv is text, but .*pass a pattern"):
        open_edges(folder)
    parquet.write_table(pa.table({"a": ["x"], "b": ["y"]}), tmp_path / "text.parquet")
    with pytest.raises(SourceError, match="does not have text for ids, unlike"):
        open_edges([folder / "part-0.parquet", tmp_path / "text.parquet"])


def test_damaged_files(tmp_path):
    table = pa.table({"a": range(1000), "b": range(1000)})
    for kind in ("parquet", "arrow", "orc"):
        path = stored(table, kind, tmp_path, rows=1000)
        path.write_bytes(path.read_bytes()[:-100])
        with pytest.raises(SourceError, match=f"table.{kind} cannot be read"):
            open_edges(path)


def test_damaged_pages(tmp_path):
    ids = np.random.default_rng(0).integers(0, 2**40, 10_000)
    path = stored(pa.table({"a": ids, "b": ids}), "parquet", tmp_path, rows=10_000)
    data = bytearray(path.read_bytes())
    data[4:2000] = bytes(1996)
    path.write_bytes(data)
    with pytest.raises(SourceError, match=r"table\.parquet cannot be read"):
        drain_edges(open_edges(path))


def test_without_pyarrow(tmp_path):
    parquet.write_table(pa.table({"a": [0], "b": [1]}), tmp_path / "x.parquet")
    code = f"""
import sys
sys.modules["pyarrow"] = None  # as if it were not installed
from graphmount._sources.contract.tables import EdgeRequest
from graphmount._sources.opening import open_edges
try:
    open_edges(EdgeRequest(source={str(tmp_path / "x.parquet")!r}))
except ImportError as error:
    print(error)
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "pip install 'graphmount[arrow]'" in result.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_memory_is_bounded(kind, tmp_path):
    """128 MiB of ids are read within 8 MiB; the process grows by less than 48 MiB.

    Arrow's allocator keeps what it has freed, so this is more than there is at any time.
    """
    if IS_SANITIZED:
        pytest.skip("sanitizers have memory of their own")
    ids = np.random.default_rng(0).integers(0, 2**40, 1 << 23)
    table = pa.table({"a": ids, "b": ids, "unused": ids})
    path = tmp_path / f"x.{kind}"
    small = stored(table.slice(0, 1000), kind, tmp_path)
    if kind == "parquet":
        parquet.write_table(table, path, row_group_size=1 << 22)
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as out:
            out.write_table(table, max_chunksize=1 << 16)
    code = """
import sys
from graphmount._sources.contract.tables import EdgeRequest
from graphmount._sources.opening import open_edges
def peak():
    status = open("/proc/self/status").read()
    return int(status.split("VmHWM:")[1].split()[0]) << 10
for batch in open_edges(EdgeRequest(source=sys.argv[2])).batches(memory=8 << 20):
    pass  # what the first use of anything costs
source = open_edges(EdgeRequest(source=sys.argv[1]))
before = peak()
print(sum(len(batch.src) for batch in source.batches(memory=8 << 20)), peak() - before)
"""
    result = subprocess.run(
        [sys.executable, "-c", code, path, small], capture_output=True, text=True, check=True
    )
    total, grown = map(int, result.stdout.split())
    assert total == 1 << 23
    assert grown < 48 << 20
