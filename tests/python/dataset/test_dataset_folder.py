"""The folder of a dataset: complete or not there, replaced as a whole, clear when damaged."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from run_mode import IS_SANITIZED

import graphmount as gm
from graphmount._compile.output import atomic_folder as _folder

EDGES = ([2, 2, 0], [0, 1, 1])


def compile_it(path, number=0, **options):
    return gm.compile_dataset(
        path,
        edges=EDGES,
        features={"x": np.full((3, 2), number)},
        labels=[0, 1, 2],
        splits={"train": [1]},
        **options,
    )


def version_of(path):
    return int(gm.Dataset(path).features["x"].numpy()[0, 0])


def test_what_is_in_it(tmp_path):
    done = compile_it(tmp_path / "ds", notes=["One.", "Zwölf."])
    files = sorted(str(p.relative_to(done.path)) for p in (tmp_path / "ds").rglob("*.*"))
    assert files == ["dataset.json", "features/x.gd", "graph.gl", "labels.gd", "splits/train.gd"]
    assert done.path == str(tmp_path / "ds")
    assert done.file_bytes == sum((tmp_path / "ds" / name).stat().st_size for name in files)
    assert (done.num_nodes, done.num_edges, done.skipped, done.skipped_examples) == (3, 3, 0, ())
    assert gm.Dataset(tmp_path / "ds").description["notes"] == ["One.", "Zwölf."]
    assert sorted(os.listdir(tmp_path)) == ["ds"]


def test_repr_and_pickle(tmp_path):
    compile_it(tmp_path / "ds", number=5)
    ds = gm.Dataset(tmp_path / "ds", advice="random")
    assert repr(ds) == (
        f"<Dataset '{tmp_path}/ds': 3 nodes, 3 edges, features ['x'], labels, splits ['train']>"
    )
    _ = ds.graph, ds.features, ds.splits  # mounted files do not travel
    again = pickle.loads(pickle.dumps(ds))  # noqa: S301
    assert again.path == ds.path
    assert again.features["x"].numpy().tolist() == ds.features["x"].numpy().tolist()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(version_of, (ds.path,)) == 5


def test_mappings_are_read_only(tmp_path):
    compile_it(tmp_path / "ds")
    ds = gm.Dataset(tmp_path / "ds")
    for mapping in (ds.features, ds.splits, ds.edge_features):
        with pytest.raises(TypeError):
            mapping["new"] = None
    assert not ds.labels.flags.writeable


def test_overwrite(tmp_path):
    compile_it(tmp_path / "ds", 1)
    mounted = gm.Dataset(tmp_path / "ds").features["x"]
    with pytest.raises(FileExistsError, match="exists; pass overwrite=True to replace it"):
        compile_it(tmp_path / "ds", 2)
    assert version_of(tmp_path / "ds") == 1
    compile_it(tmp_path / "ds", 2, overwrite=True)
    assert version_of(tmp_path / "ds") == 2
    assert mounted.numpy()[0, 0] == 1  # who has it keeps it
    (tmp_path / "empty").mkdir()
    compile_it(tmp_path / "empty", 3)
    compile_it(tmp_path / "new", 4, overwrite=True)
    assert sorted(os.listdir(tmp_path)) == ["ds", "empty", "new"]


def test_nothing_else_is_replaced(tmp_path):
    """Not even with overwrite=True: a wrong path should not cost somebody's files."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter").write_text("x")
    (tmp_path / "file").write_text("x")
    for name in ("home", "file"):
        with pytest.raises(FileExistsError, match="pass overwrite=True"):
            compile_it(tmp_path / name)
        with pytest.raises(FileExistsError, match=r"has no dataset\.json, so it is not replaced"):
            compile_it(tmp_path / name, overwrite=True)
    assert (tmp_path / "home" / "letter").read_text() == "x"
    assert sorted(os.listdir(tmp_path)) == ["file", "home"]


def test_through_a_link(tmp_path):
    compile_it(tmp_path / "ds", 1)
    (tmp_path / "link").symlink_to(tmp_path / "ds")
    done = compile_it(tmp_path / "link", 2, overwrite=True)
    assert done.path == str(tmp_path / "ds")
    assert (tmp_path / "link").is_symlink()
    assert version_of(tmp_path / "ds") == 2


def test_without_exchanging(tmp_path, monkeypatch):
    """Where names cannot be swapped in one step."""
    compile_it(tmp_path / "ds", 1)
    monkeypatch.setattr(_folder, "_exchange", lambda *_: False)
    compile_it(tmp_path / "ds", 2, overwrite=True)
    assert version_of(tmp_path / "ds") == 2
    assert os.listdir(tmp_path) == ["ds"]
    # Killed between the two steps, with the old folder aside: it comes back.
    (tmp_path / "ds").rename(tmp_path / ".ds.graphmount-partial-old")
    with pytest.raises(FileExistsError):
        compile_it(tmp_path / "ds", 3)
    assert version_of(tmp_path / "ds") == 2
    assert os.listdir(tmp_path) == ["ds"]


class FailingError(Exception):
    pass


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("moment", range(0, 1001, 100))
def test_error_half_way(moment, is_there, tmp_path):
    def fail(done, total):
        if 1000 * done >= moment * total:
            raise FailingError

    if is_there:
        compile_it(tmp_path / "ds", 1)
    with pytest.raises(FailingError):
        compile_it(tmp_path / "ds", 2, overwrite=True, progress=fail)
    assert os.listdir(tmp_path) == (["ds"] if is_there else [])
    if is_there:
        assert version_of(tmp_path / "ds") == 1


def test_errors_of_late_parts(tmp_path):
    for options in (
        {"splits": {"train": [7]}},
        {"splits": {"a/b": [0]}},
        {"edge_features": {"w": [[1.0]] * 2}},
        {"features": {"x": gm.Table(source=[[1e300]] * 3, dtype="float16")}},
    ):
        with pytest.raises(ValueError, match=r"."):
            gm.compile_dataset(tmp_path / "ds", edges=EDGES, **options)
        assert os.listdir(tmp_path) == []


COMPILE_FOREVER = """
import sys
import numpy as np
import graphmount as gm
generator = np.random.default_rng(0)
edges = generator.integers(0, 5_000, (2, 50_000))
print("ready", flush=True)
number = 0
while True:
    number += 1
    gm.compile_dataset(
        sys.argv[1], edges=edges, num_nodes=5_000, overwrite=True,
        features={"x": np.full((5_000, 20), number), "y": np.full((5_000, 1), number)},
        edge_features={"w": np.full(50_000, number)}, splits={"all": np.ones(5_000, bool)},
    )
"""


def test_killed_at_random_moments(tmp_path, campaign):
    if IS_SANITIZED:
        pytest.skip("too slow under a sanitizer")
    path = tmp_path / "ds"
    generator = random.Random(1)
    seen = 0
    for _ in range(campaign(5, 25)):
        child = subprocess.Popen(
            [sys.executable, "-c", COMPILE_FOREVER, path], stdout=subprocess.PIPE
        )
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(0.1 + generator.random() * 0.5)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        assert seen == 0 or path.exists()  # what was there stays, or a newer one is
        if path.exists():
            seen += 1
            ds = gm.Dataset(path)
            files = [ds.graph, *ds.features.values(), *ds.edge_features.values()]
            assert all(gm.verify(file.path).ok for file in files)
            values = {int(file.numpy().ravel()[0]) for file in files[1:]}
            assert len(values) == 1  # all of one run
            assert len(ds.splits["all"]) == 5_000
    compile_it(path, 7, overwrite=True)  # the next run succeeds
    assert version_of(path) == 7
    assert os.listdir(tmp_path) == ["ds"]


@pytest.mark.parametrize("is_there", [False, True])
def test_killed_when_only_the_old_folder_was_left(is_there, tmp_path):
    """Between the last file of the old dataset and its folder: nobody would have removed that."""
    path = tmp_path / "ds"
    if is_there:
        compile_it(path, 1)
    _, aside, _ = _folder.hidden_names(str(path))
    os.mkdir(aside)
    compile_it(path, 2, overwrite=True)
    assert version_of(path) == 2
    assert os.listdir(tmp_path) == ["ds"]


def test_two_at_once(tmp_path):
    def again(done, total):
        assert done <= total
        with pytest.raises(
            BlockingIOError, match="is being compiled or changed by another process"
        ):
            compile_it(tmp_path / "ds", 2)

    compile_it(tmp_path / "ds", 1, progress=again)
    assert version_of(tmp_path / "ds") == 1
    assert os.listdir(tmp_path) == ["ds"]


def test_missing_parent(tmp_path):
    with pytest.raises(FileNotFoundError, match="no"):
        compile_it(tmp_path / "no" / "ds")
    assert os.listdir(tmp_path) == []


def test_temporary_files_elsewhere(tmp_path):
    (tmp_path / "tmp").mkdir()
    compile_it(tmp_path / "ds", tmp=tmp_path / "tmp", memory="64MiB")
    gm.compile_dataset(
        tmp_path / "e", edges=EDGES, edge_features={"w": [1, 2, 3]}, tmp=tmp_path / "tmp"
    )
    assert os.listdir(tmp_path / "tmp") == []
    assert sorted(os.listdir(tmp_path)) == ["ds", "e", "tmp"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _: b"{", "dataset.json is damaged"),
        (lambda _: b"", "dataset.json is damaged"),
        (lambda _: b"\xff\xfe\x00", "dataset.json is damaged"),
        (lambda _: b"[1]", "does not describe a dataset of graphmount"),
        (lambda d: d.pop("kind"), "does not describe a dataset of graphmount"),
        (lambda d: d.update(kind="other"), "does not describe a dataset of graphmount"),
        (lambda d: d.update(version=3), "of version 3, and this graphmount reads versions 1 and 2"),
        (lambda d: d.pop("version"), "of version None"),
        (lambda d: d.pop("graph"), "'graph' is missing"),
        (lambda d: d.pop("labels"), "'labels' is missing"),
        (lambda d: d.update(num_nodes="3"), "'num_nodes' is wrong"),
        (lambda d: d.update(features=[]), "'features' is wrong"),
        (lambda d: d.update(features={"x": 3}), "3 is no file of the dataset"),
        (lambda d: d.update(labels="../labels.gd"), "'../labels.gd' is no file of the dataset"),
        (lambda d: d.update(graph="/etc/passwd"), "'/etc/passwd' is no file of the dataset"),
    ],
)
def test_damaged_description(change, message, tmp_path):
    compile_it(tmp_path / "ds")
    path = tmp_path / "ds" / "dataset.json"
    description = json.loads(path.read_text())
    changed = change(description)
    path.write_bytes(changed if isinstance(changed, bytes) else json.dumps(description).encode())
    with pytest.raises(gm.errors.FormatError, match=message) as caught:
        gm.Dataset(tmp_path / "ds")
    assert str(path) in str(caught.value)


def test_fields_of_later_versions_are_let_be(tmp_path):
    compile_it(tmp_path / "ds")
    path = tmp_path / "ds" / "dataset.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"color": "blue"}))
    assert gm.Dataset(tmp_path / "ds").num_nodes == 3


def test_no_dataset(tmp_path, graph_path):
    with pytest.raises(FileNotFoundError, match=r"dataset\.json"):
        gm.Dataset(tmp_path)
    with pytest.raises(FileNotFoundError):
        gm.Dataset(tmp_path / "missing")
    with pytest.raises(NotADirectoryError):
        gm.Dataset(graph_path)


def test_missing_file(tmp_path):
    compile_it(tmp_path / "ds")
    (tmp_path / "ds" / "features" / "x.gd").unlink()
    with pytest.raises(FileNotFoundError, match=r"x\.gd") as caught:
        gm.Dataset(tmp_path / "ds")
    assert caught.value.filename == str(tmp_path / "ds" / "features" / "x.gd")


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"features": {"x": np.zeros((3, 2))}},
        {"features": {"x": np.zeros((3, 0))}, "labels": [0, 1, 2]},
        {"labels": gm.Table(source=[1.0, 2.0], key=[0, 2], missing=0, quantize="column")},
        {"edge_features": {"w": [1, 2, 3]}, "splits": {"a": [0]}},
    ],
)
@pytest.mark.parametrize("order", ["hot", "given"])
def test_progress(parts, order, tmp_path):
    calls = []
    gm.compile_dataset(
        tmp_path / "ds",
        edges=EDGES,
        order=order,
        progress=lambda done, total: calls.append((done, total)),
        **parts,
    )
    assert calls == sorted(calls)
    assert {total for _, total in calls} == {1000}
    assert calls[-1] == (1000, 1000)


def test_wrong_progress(tmp_path):
    with pytest.raises(TypeError, match="progress must be True, False, None or a function"):
        compile_it(tmp_path / "ds", progress=5)
    assert os.listdir(tmp_path) == []
