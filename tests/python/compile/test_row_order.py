"""Rows in any order: keys, external ids, missing and repeated rows, small budgets, full disks."""

from __future__ import annotations

import errno
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interrupting import CAN_BE_INTERRUPTED, interrupt
from run_mode import IS_SANITIZED

import graphmount as gm
from graphmount._compile.rows.placement import ArrayPlacement
from graphmount._compile.rows.writer import RowWriter
from graphmount._sources.contract.batches import RowBatch, Skipped
from graphmount._sources.objects.memory_rows import MemoryRows


class Batches:
    """A source made of batches, which does not know how long it is."""

    def __init__(self, *batches, keys=None, failure=None, num_rows=None):
        self.name = "some batches"
        self.size = None
        self.num_rows = num_rows
        self.num_columns = 1 if batches[0].ndim == 1 else batches[0].shape[1]
        self.is_vector = batches[0].ndim == 1
        self.dtype = batches[0].dtype.name
        self.has_keys = keys is not None
        self.has_text_keys = False
        self.order = 0
        self.skipped = Skipped()
        self._batches, self._keys, self._failure = batches, keys, failure

    def batches(self, *, memory):
        assert memory > 0
        done = 0
        for number, rows in enumerate(self._batches):
            self.skipped.add(1, [f"batch {number}: a bad line"])
            done += len(rows)
            yield RowBatch(rows=rows, keys=self._keys and np.array(self._keys[number]), done=done)
        if self._failure is not None:
            raise self._failure("line 7")


def twin(rows, keys, num_nodes, missing, repeated):
    """What should come out, made row by row; or None if it is to be refused."""
    row_of = {}
    for row, node in enumerate(keys):
        if node in row_of and repeated == "error":
            return None
        if node not in row_of or repeated == "last":
            row_of[node] = row
    if missing == "error" and len(row_of) < num_nodes:
        return None
    matrix = np.full((num_nodes, *rows.shape[1:]), 0 if missing == "error" else missing, rows.dtype)
    for node, row in row_of.items():
        matrix[node] = rows[row]
    return matrix


@given(
    num_in_order=st.lists(st.integers(0, 40), min_size=1, max_size=4),
    others=st.lists(st.lists(st.integers(0, 130), max_size=30), max_size=3),
    columns=st.sampled_from([1, 3, 9000]),  # 9000: more than the budget
    missing=st.sampled_from(["error", -1]),
    repeated=st.sampled_from(["error", "first", "last"]),
    num_nodes=st.sampled_from([None, 200]),
)
def test_keys_that_begin_in_order(  # noqa: PLR0917
    tmp_path, num_in_order, others, columns, missing, repeated, num_nodes
):
    ends = np.cumsum(num_in_order)
    keys = [list(range(end - count, end)) for end, count in zip(ends, num_in_order, strict=True)]
    keys += others
    all_keys = [int(key) for some in keys for key in some]
    if not all_keys:
        return
    rows = np.arange(len(all_keys) * columns, dtype=np.float64).reshape(-1, columns)
    starts = np.cumsum([len(some) for some in keys])[:-1]
    batches = Batches(*np.split(rows, starts), keys=[np.array(some, np.int64) for some in keys])
    count = max(all_keys) + 1 if num_nodes is None else num_nodes
    expected = twin(rows, all_keys, count, missing, repeated)
    options = {"missing": missing, "repeated": repeated, "num_nodes": num_nodes, "memory": "1MiB"}
    path = tmp_path / "x.gd"
    path.unlink(missing_ok=True)
    if expected is None:
        with pytest.raises(gm.errors.SourceError, match=r"have no row|have one already"):
            gm.compile_features(batches, path, **options)
        assert not path.exists()
        return
    gm.compile_features(batches, path, **options)
    np.testing.assert_array_equal(gm.FeatureStore(path).numpy(), expected)
    assert gm.verify(path).ok


@given(data=st.data())
def test_keys_in_any_order(data, tmp_path):
    num_nodes = data.draw(st.integers(1, 200))
    if data.draw(st.booleans()):
        keys = data.draw(st.permutations(range(num_nodes)))
    else:
        keys = data.draw(st.lists(st.integers(0, num_nodes - 1), min_size=1, max_size=300))
    columns = data.draw(st.sampled_from([None, 0, 1, 3, 2000]))  # 2000: more than the budget
    shape = (len(keys),) if columns is None else (len(keys), columns)
    rows = np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
    missing = data.draw(st.sampled_from(["error", -1, 0.5]))
    repeated = data.draw(st.sampled_from(["error", "first", "last"]))
    is_known = data.draw(st.booleans())
    if not is_known:
        num_nodes = max(keys) + 1
    options = {
        "key": keys,
        "num_nodes": num_nodes if is_known else None,
        "missing": missing,
        "repeated": repeated,
        "memory": data.draw(st.sampled_from([0, "1MiB", "2GiB"])),
    }
    expected = twin(rows, keys, num_nodes, missing, repeated)
    path = tmp_path / "x.gd"
    if expected is None:
        with pytest.raises(gm.errors.SourceError, match=r"have no row|have one already"):
            gm.compile_features(rows, path, **options)
        return
    report = gm.compile_features(rows, path, **options)
    assert np.array_equal(gm.FeatureStore(path).numpy(), expected)
    assert report.shape == expected.shape
    assert report.missing == num_nodes - len(set(keys))
    assert report.repeated == len(keys) - len(set(keys))
    assert gm.verify(path).ok


def test_keys_of_rows_without_columns(tmp_path):
    """There is nothing to write, so nothing that was written tells how many rows there are."""
    rows, path = np.zeros((3, 0)), tmp_path / "x.gd"
    for keys in ([0, 1, 2], [2, 0, 1]):
        assert gm.compile_features(rows, path, key=keys).shape == (3, 0)
        assert gm.verify(path).ok
    with pytest.raises(gm.errors.SourceError, match="have one already: 1"):
        gm.compile_features(rows, path, key=[0, 1, 1])
    with pytest.raises(gm.errors.SourceError, match="1 of 4 nodes have no row: 3"):
        gm.compile_features(rows, path, key=[0, 1, 2], num_nodes=4)


@pytest.mark.parametrize("memory", [0, "2GiB"])
@pytest.mark.parametrize("kind", [int, str])
def test_external_ids(kind, memory, tmp_path):
    names = [kind(f"{i * 7919 % 1000}") for i in range(1000)]
    gm.compile_graph(([0], [1]), tmp_path / "g.gl", node_ids=names)
    rows = np.random.default_rng(1).random((1000, 100))
    order = np.random.default_rng(2).permutation(1000)
    report = gm.compile_features(
        rows[order],
        tmp_path / "x.gd",
        order=tmp_path / "g.gl",
        key=[names[i] for i in order],
        memory=memory,
    )
    store = gm.FeatureStore(tmp_path / "x.gd")
    assert np.array_equal(store.numpy(), rows)
    gm.check_order(gm.Graph(tmp_path / "g.gl"), store)
    assert (report.missing, report.repeated, report.skipped) == (0, 0, 0)


def test_keys_that_no_node_has(tmp_path):
    gm.compile_graph(([0], [1]), tmp_path / "g.gl", node_ids=["ann", "bob", "eve"])
    options = {"order": tmp_path / "g.gl", "key": ["eve", "zoë", "ann", "joe"], "missing": 9}
    with pytest.raises(gm.errors.SourceError, match=r"row 1: no node of .* external id 'zoë'"):
        gm.compile_features([[1.0], [2.0], [3.0], [4.0]], tmp_path / "x.gd", **options)
    assert not (tmp_path / "x.gd").exists()
    report = gm.compile_features(
        [[1.0], [2.0], [3.0], [4.0]], tmp_path / "x.gd", on_error="skip", **options
    )
    assert gm.FeatureStore(tmp_path / "x.gd").numpy().tolist() == [[3.0], [9.0], [1.0]]
    assert (report.missing, report.skipped) == (1, 2)
    assert report.skipped_examples[1].startswith("the list, row 3: no node of")
    with pytest.raises(gm.errors.SourceError, match=r"1 of 3 nodes have no row: 'bob'; pass"):
        gm.compile_features(
            [1.0, 2.0], tmp_path / "y.gd", order=tmp_path / "g.gl", key=["ann", "eve"]
        )
    with pytest.raises(gm.errors.SourceError, match="for nodes that have one already: 'ann'"):
        gm.compile_features([1, 2], tmp_path / "y.gd", order=tmp_path / "g.gl", key=["ann"] * 2)


def test_numbers_that_no_node_has(tmp_path):
    path = tmp_path / "x.gd"
    with pytest.raises(gm.errors.SourceError, match="row 1: node 3 does not exist: there are 3"):
        gm.compile_features([1, 2], path, key=[0, 3], num_nodes=3)
    with pytest.raises(gm.errors.SourceError, match="row 0: node -1 does not exist: nodes are"):
        gm.compile_features([1, 2], path, key=[-1, 0])
    with pytest.raises(gm.errors.SourceError, match=r"row 1 is for node 9.*num_nodes="):
        gm.compile_features([1, 2], path, key=[0, 2**63 - 1])
    report = gm.compile_features([1, 2], path, key=[-1, 0], on_error="skip")
    assert (report.shape, report.skipped) == ((1,), 1)
    gm.compile_graph(([0], [1]), tmp_path / "g.gl")  # no external ids: keys are numbers of nodes
    gm.compile_features([1, 2], path, key=[1, 0], order=tmp_path / "g.gl")
    assert gm.FeatureStore(path).numpy().tolist() == [2, 1]


@pytest.mark.parametrize(
    ("node_ids", "key", "message"),
    [
        (None, ["a", "b"], r"are text, but the node ids of .* are numbers"),
        (["a", "b"], [0, 1], r"are numbers, but the node ids of .* are text"),
    ],
)
def test_keys_of_the_wrong_kind(node_ids, key, message, tmp_path):
    gm.compile_graph(([0], [1]), tmp_path / "g.gl", node_ids=node_ids)
    with pytest.raises(ValueError, match=message):
        gm.compile_features([1, 2], tmp_path / "x.gd", key=key, order=tmp_path / "g.gl")
    with pytest.raises(ValueError, match="pass order= with the graph"):
        gm.compile_features([1, 2], tmp_path / "x.gd", key=["a", "b"])


def test_key_column(tmp_path):
    table = np.array([[5, 2, 50], [6, 0, 60], [7, 1, 70]])
    gm.compile_features(table, tmp_path / "x.gd", key=1)
    assert gm.FeatureStore(tmp_path / "x.gd").numpy().tolist() == [[6, 60], [7, 70], [5, 50]]
    gm.compile_features(table.astype(float), tmp_path / "x.gd", key=1, columns=[2])
    assert gm.FeatureStore(tmp_path / "x.gd").numpy().tolist() == [[60], [70], [50]]
    with pytest.raises(gm.errors.SourceError, match=r"row 1: 0.5 cannot be stored as int64"):
        gm.compile_features([[0.0, 1], [0.5, 2]], tmp_path / "x.gd", key=0)


def test_a_column_of_keys_that_is_no_plain_number(tmp_path):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    rows = np.array([[1, 5], [0, 6]], ml_dtypes.bfloat16)
    assert gm.compile_features(rows, tmp_path / "x.gd", key=0).shape == (2, 1)
    assert gm.FeatureStore(tmp_path / "x.gd").numpy().view(ml_dtypes.bfloat16).tolist() == [
        [6],
        [5],
    ]
    gm.compile_features(rows.astype(np.float32), tmp_path / "q.gd", quantize="column")
    with pytest.raises(ValueError, match="key=0 is a column of quantized values"):
        gm.compile_features(gm.FeatureStore(tmp_path / "q.gd"), tmp_path / "x.gd", key=0)


@pytest.mark.parametrize("memory", [0, 2 << 30])
def test_destinations(memory, tmp_path):
    rows = np.random.default_rng(0).random((500, 300))
    places = np.random.default_rng(1).permutation(500)
    path = str(tmp_path / "x.gd")
    counts = []

    def write(placement):
        return RowWriter(
            source=MemoryRows(rows),
            table=gm.Table(source=rows),
            path=path,
            dtype="float32",
            folder=str(tmp_path),
            memory=memory,
            check_rows=counts.append,
        ).write(placement)

    written = write(ArrayPlacement(places, 500))
    assert [written.num_rows] == counts == [500]
    assert np.array_equal(gm.FeatureStore(path).numpy()[places], rows.astype(np.float32))
    fewer = ArrayPlacement(places[1:], None)
    with pytest.raises(gm.errors.SourceError, match="the ndarray, row 499: there is no node for"):
        write(fewer)


def test_a_source_of_unknown_length(tmp_path):
    parts = [np.full((n, 3), n, np.int16) for n in (5, 1, 0, 4000)]
    report = gm.compile_features(Batches(*parts), tmp_path / "x.gd")
    assert report.shape == (4006, 3)
    assert (report.skipped, report.skipped_examples[0]) == (4, "batch 0: a bad line")
    assert np.array_equal(gm.FeatureStore(tmp_path / "x.gd").numpy(), np.concatenate(parts))
    gm.compile_features(np.concatenate(parts), tmp_path / "y.gd")
    assert (tmp_path / "x.gd").read_bytes() == (tmp_path / "y.gd").read_bytes()
    report = gm.compile_features(Batches(*parts), tmp_path / "q.gd", quantize="column")
    assert (report.shape, report.skipped) == ((4006, 3), 4)
    with pytest.raises(ValueError, match="4006 rows, but num_nodes=4000"):
        gm.compile_features(Batches(*parts), tmp_path / "z.gd", num_nodes=4000)
    gm.compile_graph(([0], [1]), tmp_path / "g.gl")
    with pytest.raises(gm.errors.OrderError, match=r"4006 rows, but .* has 2 nodes"):
        gm.compile_features(Batches(*parts), tmp_path / "z.gd", order=tmp_path / "g.gl")
    for wrong in (4005, 4007):
        with pytest.raises(gm.errors.SourceError, match=f"was to have {wrong} rows, but has"):
            gm.compile_features(Batches(*parts, num_rows=wrong), tmp_path / "z.gd")
    assert not (tmp_path / "z.gd").exists()


@pytest.mark.parametrize("failure", [gm.errors.SourceError, KeyboardInterrupt])
@pytest.mark.parametrize("keys", [None, [[1, 0], [2, 3]]])
def test_an_error_of_the_source_leaves_nothing(keys, failure, tmp_path):
    rows = np.zeros((2, 2))
    with pytest.raises(failure):
        gm.compile_features(Batches(rows, rows, keys=keys, failure=failure), tmp_path / "x.gd")
    assert list(tmp_path.iterdir()) == []
    assert not [t for t in threading.enumerate() if t.name == "graphmount-reader"]


def test_an_error_of_the_consumer_ends_the_reader(tmp_path):
    rows = [np.full((2, 2), 1e300)] * 100
    with pytest.raises(gm.errors.SourceError, match="row 0, column 0"):
        gm.compile_features(Batches(*rows), tmp_path / "x.gd", dtype="float32")
    assert not [t for t in threading.enumerate() if t.name == "graphmount-reader"]


def test_full_temporary_folder(small_disk, tmp_path):
    rows = np.zeros((3000, 1000), np.float32)
    with pytest.raises(OSError, match=r"writing 3,000 rows needs about 11.4 MiB here") as caught:
        gm.compile_features(
            rows, tmp_path / "x.gd", key=np.arange(3000)[::-1], tmp=small_disk, memory="2MiB"
        )
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(small_disk)
    assert list(small_disk.iterdir()) == []
    assert not (tmp_path / "x.gd").exists()
    gm.compile_features(rows, tmp_path / "x.gd", key=np.arange(3000)[::-1], tmp=small_disk)


@pytest.mark.parametrize("step", [-1, 1])
def test_missing_temporary_folder(tmp_path, step):
    # Also for rows that come in order and would need none: whether they do is known at the end.
    rows = np.zeros((3000, 1000), np.float32)
    with pytest.raises(FileNotFoundError, match="pass tmp= for another folder"):
        gm.compile_features(
            rows,
            tmp_path / "x.gd",
            key=np.arange(3000)[::step],
            tmp=tmp_path / "no",
            memory="2MiB",
        )
    assert list(tmp_path.iterdir()) == []


# A matrix of 256 MiB, made batch by batch in a shuffled order, with a budget of 64 MiB.
SCATTER = """
import resource, sys
import numpy as np
import graphmount as gm
from graphmount._sources.contract.batches import RowBatch, Skipped

class Source:
    name, size, num_rows, num_columns = "made up", None, None, 256
    is_vector, dtype, has_keys, has_text_keys = False, "float32", True, False
    skipped = Skipped()

    def batches(self, *, memory):
        step = memory // 1024
        for first in range(0, 1 << 18, step):
            # An odd factor makes this a permutation.
            keys = np.arange(first, min(first + step, 1 << 18)) * 100003 % (1 << 18)
            yield RowBatch(rows=np.repeat(keys.astype(np.float32)[:, None], 256, 1), keys=keys)

gm.compile_features([[1.0]], sys.argv[1], key=[0])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print("ready", flush=True)
options = {"num_nodes": 1 << 18} if sys.argv[2] == "known" else {}
while True:
    gm.compile_features(Source(), sys.argv[1], memory="64MiB", **options)
    if sys.argv[2] != "forever":
        break
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB")
@pytest.mark.parametrize("rows", ["known", "unknown"])
def test_budget(rows, tmp_path):
    if IS_SANITIZED:
        pytest.skip("sanitizers have memory of their own")
    result = subprocess.run(
        [sys.executable, "-c", SCATTER, tmp_path / "x.gd", rows],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(result.stdout.split()[1]) < 64 << 10
    column = gm.FeatureStore(tmp_path / "x.gd").numpy()
    assert column.shape == (1 << 18, 256)
    assert np.array_equal(column[:, 0], np.arange(1 << 18))
    assert np.array_equal(column[:, 255], np.arange(1 << 18))


def test_interrupt(tmp_path):
    if IS_SANITIZED:
        pytest.skip("too slow under a sanitizer")
    child = subprocess.Popen(
        [sys.executable, "-c", CAN_BE_INTERRUPTED + SCATTER, tmp_path / "x.gd", "forever"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    child.stdout.readline()
    time.sleep(0.5)
    _, errors = interrupt(child)
    assert "KeyboardInterrupt" in errors
    assert {path.name for path in tmp_path.iterdir()} == {"x.gd"}
    assert gm.verify(tmp_path / "x.gd").ok
