"""A dataset of Ray Data as a source: its rows in a stated order, the same bytes as from memory."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import numpy as np
import pytest
from ray_data import quiet_ray_data

import graphmount as gm
from graphmount.errors import SourceError

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")


@pytest.fixture(scope="module")
def data(cluster):
    """The module ray.data, without bars and messages."""
    del cluster
    return quiet_ray_data()


def same_bytes(first, second):
    return first.read_bytes() == second.read_bytes()


def tables(columns, num_blocks=3):
    """Columns as tables of Arrow, one for each block."""
    whole = pa.table(columns)
    step = -(-whole.num_rows // num_blocks)
    return [whole.slice(first, step) for first in range(0, whole.num_rows, step)]


def test_blocks_keep_their_order_though_later_ones_are_finished_first(data, tmp_path):
    def make(batch):
        import time

        time.sleep(1.0 if batch["id"][0] == 0 else 0.0)
        return {"src": batch["id"] % 17, "dst": batch["id"] * 7 % 13}

    edges = data.range(60, override_num_blocks=3).map_batches(make)
    gm.compile_graph(edges, tmp_path / "ray.gl", source_rows=True)
    rows = np.arange(60)
    gm.compile_graph((rows % 17, rows * 7 % 13), tmp_path / "local.gl", source_rows=True)
    assert same_bytes(tmp_path / "ray.gl", tmp_path / "local.gl")
    # The user's dataset is as it was.
    assert not edges.context.execution_options.preserve_order


def test_a_dataset_of_features_labels_and_keys(data, tmp_path):
    generator = np.random.default_rng(0)
    columns = {"s": generator.integers(0, 20, 90), "d": generator.integers(0, 20, 90)}
    x = generator.random((20, 3), np.float32)
    keyed = {"key": np.arange(20)[::-1], "a": np.arange(20.0), "b": np.arange(20)}
    labels = {"y": np.arange(20) % 4}

    def make(out, edges, rows, key, classes):
        gm.compile_dataset(
            out,
            edges=edges,
            features={"x": rows, "k": gm.Table(source=key, key="key")},
            labels=classes,
        )

    make(
        tmp_path / "ray",
        data.from_arrow(tables(columns)),
        data.from_numpy(x),
        data.from_arrow(tables(keyed)),
        data.from_arrow(tables(labels)),
    )
    make(tmp_path / "local", pa.table(columns), x, pa.table(keyed), pa.table(labels))
    for name in ("graph.gl", "features/x.gd", "features/k.gd", "labels.gd"):
        assert same_bytes(tmp_path / "ray" / name, tmp_path / "local" / name)


@pytest.mark.parametrize(
    ("third", "message"),
    [
        ({"s": [1.5], "d": [2]}, "column 's' is of type double in block 2"),
        ({"s": [1]}, "column 'd' is not there in block 2"),
        ({"s": [1], "d": pa.array([None], pa.int64())}, "row 4, column 'd': is missing"),
        ({"s": [1], "d": [-3]}, "edge 4: node id -3 is negative"),
    ],
)
@pytest.mark.parametrize("on_cluster", [False, True])
def test_a_third_block_that_is_wrong_is_named(data, tmp_path, third, message, on_cluster):
    good = pa.table({"s": [0, 1], "d": [1, 2]})
    edges = data.from_arrow([good, good, pa.table(third)])
    if on_cluster:
        edges = gm.ray.ClusterEdges(dataset=edges, task_memory="64MiB")
    with pytest.raises(SourceError) as caught:
        gm.compile_graph(edges, tmp_path / "bad.gl")
    assert message in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_no_task_is_cancelled():
    # Where it is done at that moment, Ray ends this process: two of twelve runs of the test above.
    files = Path(gm.__file__).parent.rglob("*.py")
    assert [path.name for path in files if "ray.cancel(" in path.read_text()] == []


def test_no_edges(data, tmp_path):
    empty = data.from_arrow(
        [pa.table({"s": pa.array([], pa.int64()), "d": pa.array([], pa.int64())})]
    )
    with pytest.raises(SourceError, match="there are no edges in it; pass num_nodes="):
        gm.compile_graph(empty, tmp_path / "bad.gl")
    gm.compile_graph(empty, tmp_path / "empty.gl", num_nodes=4)
    gm.compile_graph(gm.ray.ClusterEdges(dataset=empty), tmp_path / "also.gl", num_nodes=4)
    assert same_bytes(tmp_path / "empty.gl", tmp_path / "also.gl")


def test_what_makes_the_rows_fails(data, tmp_path):
    def fail(batch):
        del batch
        raise ValueError("no such day")

    edges = data.range(3).map_batches(fail)
    with pytest.raises(SourceError, match=r"what makes its rows failed .*no such day"):
        gm.compile_graph(edges, tmp_path / "bad.gl")
    assert list(tmp_path.iterdir()) == []


class DiesInTheMiddle:
    """An actor whose process is killed at the third block: once, or whenever it comes there."""

    def __init__(self, folder, always):
        self.folder, self.always = folder, always

    def __call__(self, batch):
        died = Path(self.folder, "died")
        if batch["s"][0] == 2 and (self.always or not died.exists()):
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return batch


@pytest.mark.filterwarnings("ignore:`ray_remote_args` is deprecated")
@pytest.mark.parametrize("always", [False, True])
@pytest.mark.parametrize("on_cluster", [False, True])
def test_an_actor_that_is_lost_in_the_middle(data, tmp_path, on_cluster, always):
    blocks = [pa.table({"s": [number] * 3, "d": [0, 1, 2]}) for number in range(5)]
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    options = {"max_restarts": 0, "max_task_retries": 0} if always else {}
    edges = data.from_arrow(blocks).map_batches(
        DiesInTheMiddle,
        fn_constructor_args=(str(scratch), always),
        concurrency=1,
        num_cpus=0.5,
        **options,
    )
    source = gm.ray.ClusterEdges(dataset=edges, task_memory="64MiB") if on_cluster else edges
    made = tmp_path / "made"

    def compile_all(out, source):
        features = {"x": np.ones((5, 2), np.float32)}
        gm.compile_dataset(out, edges=source, num_nodes=5, features=features)

    if always:
        with pytest.raises(SourceError, match="what makes its rows failed"):
            compile_all(made, source)
        assert os.listdir(tmp_path) == ["scratch"]
        return
    compile_all(made, source)
    compile_all(tmp_path / "local", pa.concat_tables(blocks))
    assert same_bytes(made / "graph.gl", tmp_path / "local" / "graph.gl")
    assert (scratch / "died").exists()


def test_a_second_pass_with_other_rows_is_refused(data, tmp_path):
    def shuffle(batch):
        generator = np.random.default_rng()
        return {"key": generator.permutation(batch["id"]), "v": batch["id"]}

    rows = data.range(200, override_num_blocks=1).map_batches(shuffle)

    def compile_rows(rows):
        gm.compile_dataset(
            tmp_path / "made",
            edges=(np.arange(200), np.arange(200)),
            ids="map",
            features={"x": gm.Table(source=rows, key="key")},
        )

    with pytest.raises(SourceError, match=r"column 'key': Ray gave other .* dataset.materialize"):
        compile_rows(rows)
    assert list(tmp_path.iterdir()) == []
    compile_rows(rows.materialize())  # as the message says
    assert gm.Dataset(tmp_path / "made").num_nodes == 200


def test_this_process_holds_one_block_at_a_time(data, tmp_path):
    if not os.environ.get("GRAPHMOUNT_LONG"):
        pytest.skip("takes a while: GRAPHMOUNT_LONG=1")

    def make(batch):
        return {"src": batch["id"] % 10_007, "dst": batch["id"] % 9_973}

    def anonymous():
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        return int(status.partition("RssAnon:")[2].split()[0]) << 10

    edges = data.range(40_000_000, override_num_blocks=80).map_batches(make)  # 640 MB
    before, peak = anonymous(), 0
    stop = threading.Event()

    def look():
        nonlocal peak
        while not stop.wait(0.05):
            peak = max(peak, anonymous())

    watch = threading.Thread(target=look)
    watch.start()
    try:
        gm.compile_graph(edges, tmp_path / "g.gl", neighbors="in", memory="64MiB")
    finally:
        stop.set()
        watch.join()
    assert peak - before < 250 << 20
