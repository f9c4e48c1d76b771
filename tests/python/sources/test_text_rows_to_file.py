"""Rows of text with keys or without: the file is that of the same rows in memory.

A piece of text is 256 KiB, so tables here are larger where borders between pieces matter.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_mode import IS_SANITIZED
from source_samples import PACKERS, as_text, write

import graphmount as gm

NUM_ROWS = 40_000  # in about eight pieces


def big_table():
    """Keys in order, and rows of integers, whose text is short to make."""
    rows = np.random.default_rng(0).integers(-(10**6), 10**6, (NUM_ROWS, 7))
    return np.arange(NUM_ROWS), rows


def compile_both(tmp_path, text, keys, rows, **options):
    """The bytes of the file, from text and from memory; or the error, without names."""

    def result(source, **how):
        try:
            report = gm.compile_features(source, tmp_path / "x.gd", dtype="int64", **how, **options)
        except gm.errors.SourceError as error:
            assert not (tmp_path / "x.gd").exists()
            return str(error).split(":", 1)[1]
        found = (tmp_path / "x.gd").read_bytes()
        (tmp_path / "x.gd").unlink()
        return found, report.shape, report.missing, report.repeated

    return result(text, key=0), result(rows, key=keys)


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_rows_in_order(suffix, tmp_path):
    keys, rows = big_table()
    text = PACKERS[suffix](as_text(keys, *rows.T).encode())
    made, wanted = compile_both(tmp_path, write(tmp_path / f"x.csv{suffix}", text), keys, rows)
    assert made == wanted


@pytest.mark.parametrize("at", [0, 1, 20_000, NUM_ROWS - 2])
@pytest.mark.parametrize("repeated", ["first", "last", "error"])
def test_two_rows_change_places(at, repeated, tmp_path):
    keys, rows = big_table()
    keys[[at, at + 1]] = keys[[at + 1, at]]
    path = write(tmp_path / "x.csv", as_text(keys, *rows.T))
    made, wanted = compile_both(tmp_path, path, keys, rows, repeated=repeated)
    assert made == wanted


@pytest.mark.parametrize("options", [{}, {"missing": 5}, {"num_nodes": NUM_ROWS + 9, "missing": 1}])
def test_a_gap(options, tmp_path):
    keys, rows = big_table()
    keys = np.delete(keys, 30_000)
    rows = rows[1:]
    path = write(tmp_path / "x.csv", as_text(keys, *rows.T))
    made, wanted = compile_both(tmp_path, path, keys, rows, **options)
    assert made == wanted


def test_more_rows_than_nodes(tmp_path):
    keys, rows = big_table()
    path = write(tmp_path / "x.csv", as_text(keys, *rows.T))
    made, wanted = compile_both(tmp_path, path, keys, rows, num_nodes=NUM_ROWS - 1)
    assert made == wanted == f" node {NUM_ROWS - 1} does not exist: there are 39999 nodes"


def test_without_keys_and_with_comments(tmp_path):
    _, rows = big_table()
    lines = as_text(*rows.T).splitlines(keepends=True)
    text = "a,b,c,d,e,f,g\n" + "# note\n\n".join(
        "".join(lines[i : i + 999]) for i in range(0, NUM_ROWS, 999)
    )
    gm.compile_features(write(tmp_path / "x.csv", text), tmp_path / "made.gd")
    gm.compile_features(rows, tmp_path / "wanted.gd")
    assert (tmp_path / "made.gd").read_bytes() == (tmp_path / "wanted.gd").read_bytes()


@pytest.mark.parametrize("at", [0, 1, 35_000])
def test_a_bad_row(at, tmp_path):
    _, rows = big_table()
    lines = as_text(*rows.T).splitlines(keepends=True)
    lines.insert(at, "1,2,3,oops,5,6,7\n")
    path = write(tmp_path / "x.csv", "".join(lines))
    with pytest.raises(gm.errors.SourceError, match=f"line {at + 1}, column 4: 'oops'"):
        gm.compile_features(path, tmp_path / "x.gd", dtype="int64", header=False)
    assert not (tmp_path / "x.gd").exists()
    done = gm.compile_features(
        path, tmp_path / "x.gd", dtype="int64", header=False, on_error="skip"
    )
    assert done.skipped == 1
    assert f"line {at + 1}," in done.skipped_examples[0]
    assert np.array_equal(gm.FeatureStore(tmp_path / "x.gd").numpy(), rows)


def test_files_one_after_the_other(tmp_path):
    keys, rows = big_table()
    paths = [
        write(tmp_path / f"{part.start}.csv", as_text(keys[part], *rows[part].T))
        for part in (slice(0, 9000), slice(9000, 25_000), slice(25_000, NUM_ROWS))
    ]
    made, wanted = compile_both(tmp_path, paths, keys, rows)
    assert made == wanted
    made, wanted = compile_both(tmp_path, [paths[0], paths[2], paths[1]], keys, rows)
    assert made == wanted


@pytest.mark.parametrize(
    "options",
    [
        {"dtype": "float32"},
        {"dtype": "float32", "nan": 0},
        {"dtype": "int16"},
        {"quantize": "column"},
    ],
)
def test_values_that_change_on_the_way(options, tmp_path):
    rows = np.arange(12).reshape(4, 3)
    path = write(tmp_path / "x.csv", as_text(*rows.T))
    gm.compile_features(path, tmp_path / "made.gd", **options)
    gm.compile_features(rows, tmp_path / "wanted.gd", **options)
    assert np.array_equal(
        gm.FeatureStore(tmp_path / "made.gd").numpy(),
        gm.FeatureStore(tmp_path / "wanted.gd").numpy(),
    )


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_error_while_rows_are_written(error, tmp_path):
    _, rows = big_table()
    path = write(tmp_path / "x.csv", as_text(*rows.T) * 20)
    names = {path.name}

    def stop(_done, _total):
        raise error("enough")

    with pytest.raises(error, match="enough"):
        gm.compile_features(path, tmp_path / "x.gd", progress=stop)
    assert {path.name for path in tmp_path.iterdir()} == names
    assert all(thread.name != "graphmount-reader" for thread in threading.enumerate())


INTERRUPTED_TWICE = """
import signal, sys
import graphmount as gm

def interrupt(*_):
    raise KeyboardInterrupt

def stop(done, total):
    signal.setitimer(signal.ITIMER_REAL, float(sys.argv[2]))
    interrupt()

signal.signal(signal.SIGALRM, interrupt)
try:
    gm.compile_features(sys.argv[1], sys.argv[1] + ".gd", progress=stop)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_a_second_interrupt(tmp_path):
    """It may come while a thread is waited for, which must not write to a file that is closed."""
    _, rows = big_table()
    path = write(tmp_path / "x.csv", as_text(*rows.T) * 20)
    for delay in ("0.0005", "0.002", "0.008"):
        child = subprocess.run(
            [sys.executable, "-c", INTERRUPTED_TWICE, path, delay], capture_output=True, check=False
        )
        assert child.stdout == b"interrupted\n"
        assert child.returncode == 0, child.stderr
    assert list(tmp_path.iterdir()) == [path]


MEMORY_OF_A_RUN = """
import resource, sys
import graphmount as gm

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

before = peak()
gm.compile_features(sys.argv[1], sys.argv[1] + ".gd", memory="16MiB")
print(peak() - before)
"""


def test_many_threads_keep_to_the_budget(tmp_path):
    if IS_SANITIZED:
        pytest.skip("a sanitizer has memory of its own")
    _, rows = big_table()
    path = write(tmp_path / "x.csv", as_text(*rows.T) * 5)
    child = subprocess.run(
        [sys.executable, "-c", MEMORY_OF_A_RUN, path],
        env=os.environ | {"OMP_NUM_THREADS": "64"},
        capture_output=True,
        check=True,
    )
    assert int(child.stdout) < 16 << 10


@given(
    keys=st.lists(st.integers(0, 12), max_size=12),
    num_in_order=st.integers(0, 9),
    options=st.fixed_dictionaries(
        {
            "repeated": st.sampled_from(["first", "last", "error"]),
            "missing": st.sampled_from(["error", -1]),
            "num_nodes": st.sampled_from([None, 5, 13]),
        }
    ),
)
def test_any_keys(keys, num_in_order, options, tmp_path_factory):
    keys = np.array([*range(num_in_order), *keys], np.int64)
    rows = np.arange(len(keys) * 2).reshape(-1, 2)
    folder = tmp_path_factory.mktemp("any_keys")
    made, wanted = compile_both(
        folder,
        write(folder / "x.csv", "id,x,y\n" + as_text(keys, *rows.T)),
        keys,
        rows,
        **options,
    )
    assert made == wanted
