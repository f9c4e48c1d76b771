"""One dataset, one version: what is opened together was compiled together, in all processes."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import re
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest
from dataset_folders import without_list

import graphmount as gm
from graphmount._support.files.opened_folder import OpenedFolder

EDGES = ([2, 2, 0], [0, 1, 1])


def compile_it(path, number=0, **options):
    gm.compile_dataset(
        path,
        edges=EDGES,
        features={"x": np.full((3, 2), number), "y": np.full(3, number)},
        edge_features={"w": np.full(3, number)},
        labels=np.full(3, number),
        splits={"train": [number % 3]},
        **options,
    )
    return path


def numbers_in(ds):
    """Which version each part is of."""
    first = ds.as_internal([0])
    found = {int(table.gather(first).ravel()[0]) for table in ds.features.values()}
    found |= {int(table.gather([0]).ravel()[0]) for table in ds.edge_features.values()}
    return found | {int(ds.labels[0])}


def content_of(path):
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in sorted(path.rglob("*"))
        if file.is_file()
    }


def test_the_list(tmp_path):
    folder = compile_it(tmp_path / "ds")
    described = gm.Dataset(folder).description
    assert sorted(described["files"]) == [
        "edge_features/w.gd",
        "features/x.gd",
        "features/y.gd",
        "graph.gl",
        "labels.gd",
        "splits/train.gd",
    ]
    for name, entry in described["files"].items():
        data = (folder / name).read_bytes()
        assert entry["bytes"] == len(data)
        assert int(entry["checksum"], 16) == int.from_bytes(data[4088:4096], "little")


def test_every_byte_of_the_content_counts(tmp_path):
    """The checksum of the header changes with any value in the file."""
    seen = set()
    for row in range(3):
        for value in (1, 2):
            x = np.zeros((3, 2))
            x[row, 1] = value
            gm.compile_features(x, tmp_path / "x.gd")
            seen.add(gm.FeatureStore(tmp_path / "x.gd")._content)
    assert len(seen) == 6


def test_the_same_input_gives_the_same_bytes(tmp_path):
    """Whatever the memory and the number of threads: nothing in a dataset is random."""
    generator = np.random.default_rng(3)
    edges = generator.integers(0, 20_000, (2, 300_000))
    weights = generator.random(300_000, dtype=np.float32)
    keys = generator.permutation(20_000)
    found = []
    threads = gm.num_threads()
    try:
        for memory, count in (("64MiB", 1), ("64MiB", 4), ("1GiB", 4), ("1GiB", 1)):
            gm.set_num_threads(count)
            gm.compile_dataset(
                tmp_path / "ds",
                edges=gm.EdgeTable(source=tuple(edges), weights=weights),
                features={
                    "x": np.arange(60_000).reshape(20_000, 3),
                    "keyed": gm.Table(source=np.arange(20_000.0), key=keys, dtype="float16"),
                },
                edge_features={"w": weights},
                labels=np.arange(20_000) % 7,
                splits={"train": np.arange(20_000) % 3 == 0},
                memory=memory,
                overwrite=True,
            )
            found.append(content_of(tmp_path / "ds"))
    finally:
        gm.set_num_threads(threads)
    for other in found[1:]:
        assert other.keys() == found[0].keys()
        assert [name for name in other if other[name] != found[0][name]] == []


@pytest.mark.parametrize("name", ["graph.gl", "labels.gd", "features/x.gd", "splits/train.gd"])
def test_a_file_of_another_version(name, tmp_path):
    folder, other = compile_it(tmp_path / "ds", 1), compile_it(tmp_path / "other", 2)
    if name == "graph.gl":  # as long as the other, with other edges
        gm.compile_dataset(other, edges=([2, 2, 0], [0, 1, 0]), overwrite=True)
    shutil.copy(other / name, folder / name)
    message = r"is not the file that dataset\.json lists"
    with pytest.raises(gm.errors.DatasetChangedError, match=message) as caught:
        gm.Dataset(folder)
    assert caught.value.path == str(folder / name)
    assert isinstance(caught.value, OSError)


def test_folders_without_the_list_still_open(tmp_path):
    folder = compile_it(tmp_path / "ds", 4)
    without_list(folder)
    ds = gm.Dataset(folder)
    assert "files" not in ds.description
    assert numbers_in(ds) == {4}
    assert numbers_in(pickle.loads(pickle.dumps(ds))) == {4}  # noqa: S301


def test_an_open_dataset_keeps_its_version(tmp_path):
    """What was not asked for before the folder was replaced, too."""
    folder = compile_it(tmp_path / "ds", 1)
    ds = gm.Dataset(folder)
    assert ds.labels[0] == 1
    compile_it(folder, 2, overwrite=True)
    assert numbers_in(ds) == {1}
    assert ds.splits["train"].tolist() == ds.to_internal([1]).tolist()
    assert numbers_in(gm.Dataset(folder)) == {2}


def test_replaced_in_the_middle_of_opening(tmp_path, monkeypatch):
    folder = compile_it(tmp_path / "ds", 1)
    opened = OpenedFolder.open_file
    left = 0

    def replacing(self, name):
        nonlocal left
        left -= 1
        if left == 0:
            monkeypatch.setattr(OpenedFolder, "open_file", opened)
            compile_it(folder, 2, overwrite=True)
        return opened(self, name)

    for moment in range(1, 8):
        compile_it(folder, 1, overwrite=True)
        left = moment
        monkeypatch.setattr(OpenedFolder, "open_file", replacing)
        with pytest.raises(gm.errors.DatasetChangedError, match="was replaced while it was being"):
            gm.Dataset(folder)
    assert numbers_in(gm.Dataset(folder)) == {2}


def test_replaced_by_another_thread(tmp_path, campaign):
    """Whoever opens it at any moment gets all of one version, or a clear error."""
    folder = compile_it(tmp_path / "ds", 0)
    is_done = threading.Event()
    wrong = []

    def read():
        while not is_done.is_set():
            try:
                ds = gm.Dataset(folder)
                found = numbers_in(ds)
            except gm.errors.DatasetChangedError:
                continue
            except Exception as error:  # noqa: BLE001
                wrong.append(error)
                return
            if len(found) != 1:
                wrong.append(found)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for number in range(1, campaign(6, 400)):
        compile_it(folder, number, overwrite=True)
    is_done.set()
    for reader in readers:
        reader.join()
    assert wrong == []


@pytest.mark.parametrize("has_list", [True, False])
def test_pickled_datasets_and_handles(has_list, tmp_path):
    """Each says that it is of another version, whether the folder has the list or not."""
    folder = compile_it(tmp_path / "ds", 1)
    if not has_list:
        without_list(folder)
    ds = gm.Dataset(folder, advice="random")
    sent = {
        "dataset": pickle.dumps(ds),
        "graph": pickle.dumps(gm.Dataset(folder).graph),
        "x": pickle.dumps(ds.features["x"]),
    }
    for pickled in sent.values():
        pickle.loads(pickled)  # noqa: S301
    assert pickle.loads(sent["x"]).advice == "random"  # noqa: S301
    gm.compile_dataset(
        folder,
        edges=([2, 2, 0], [0, 1, 2]),
        features={"x": np.full((3, 2), 2), "y": np.full(3, 1)},
        overwrite=True,
    )
    if not has_list:
        without_list(folder)
    for pickled in sent.values():
        with pytest.raises(gm.errors.DatasetChangedError, match="has been replaced; open it again"):
            pickle.loads(pickled)  # noqa: S301


def test_other_names_of_classes_are_another_dataset(tmp_path):
    """Though the labels, numbers of classes, are in the same file byte by byte."""
    folder = tmp_path / "ds"

    def compile_labels(*labels):
        edges = ([0, 1], [1, 0])
        gm.compile_dataset(folder, edges=edges, labels=list(labels), overwrite=True)
        return gm.Dataset(folder)

    before = compile_labels("cat", "dog")
    sent = pickle.dumps(before)
    assert pickle.loads(sent).classes == ["cat", "dog"]  # noqa: S301
    after = compile_labels("cat", "hen")
    assert before.labels.tolist() == after.labels.tolist()
    with pytest.raises(
        gm.errors.DatasetChangedError, match=r"\(classes differs\): it has been repl"
    ):
        pickle.loads(sent)  # noqa: S301
    compile_labels(0, 1)
    with pytest.raises(gm.errors.DatasetChangedError, match="differs"):
        pickle.loads(sent)  # noqa: S301
    sent = pickle.dumps(compile_labels("cat", "dog"))
    compile_labels("cat", "dog")
    assert pickle.loads(sent).classes == ["cat", "dog"]  # noqa: S301


def test_the_same_content_is_the_same_dataset(tmp_path):
    folder = compile_it(tmp_path / "ds", 1)
    sent = pickle.dumps(gm.Dataset(folder))
    compile_it(folder, 1, overwrite=True)
    assert numbers_in(pickle.loads(sent)) == {1}  # noqa: S301


def test_a_pickle_of_an_older_version(tmp_path):
    """Which has no contents: (path, advice)."""
    folder = compile_it(tmp_path / "ds", 1)
    reopen, arguments = gm.Dataset(folder).__reduce__()
    assert numbers_in(reopen(*arguments[:2])) == {1}


def test_handles_by_themselves_are_what_is_there(tmp_path):
    """A file that was not opened as part of a dataset has no version to keep to."""
    gm.compile_features([1], tmp_path / "x.gd")
    sent = pickle.dumps(gm.FeatureStore(tmp_path / "x.gd"))
    gm.compile_features([2], tmp_path / "x.gd")
    assert pickle.loads(sent).numpy().tolist() == [2]  # noqa: S301


def open_in_worker(pickled):
    try:
        return numbers_in(pickle.loads(pickled))  # noqa: S301
    except gm.errors.DatasetChangedError as error:
        return str(error)


def test_workers(tmp_path):
    folder = compile_it(tmp_path / "ds", 1)
    sent = pickle.dumps(gm.Dataset(folder))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(open_in_worker, (sent,)) == {1}
        compile_it(folder, 2, overwrite=True)
        assert "features 'x' differs" in pool.apply(open_in_worker, (sent,))


def test_a_link_put_there_later_is_not_followed(tmp_path):
    folder = compile_it(tmp_path / "ds", 1)
    sent = pickle.dumps(gm.Dataset(folder).features["x"])
    os.rename(folder / "features" / "x.gd", tmp_path / "outside.gd")
    (folder / "features" / "x.gd").symlink_to(tmp_path / "outside.gd")
    with pytest.raises(gm.errors.FormatError, match="symbolic link"):
        pickle.loads(sent)  # noqa: S301


def test_every_opening_is_compared():
    """No module opens a file of a dataset by its path: the one place compares it with the list."""
    openings = re.compile(r"(?:Graph|FeatureStore)\(os\.path\.join\((?:self|data(?:set)?|ds)\.path")
    sources = Path(gm.__file__).parent
    assert [path for path in sources.rglob("*.py") if openings.search(path.read_text())] == []
