"""Other people's files: a dataset replaces a dataset, and removes nothing else."""

from __future__ import annotations

import json
import os
import socket
import warnings

import numpy as np
import pytest

import graphmount as gm
from graphmount._compile.output import atomic_folder as _folder
from graphmount._compile.output.replacement import remove_dataset

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


def tree(path):
    """All names below a folder, and what is in the files that are not ours."""
    found = {}
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            full = os.path.join(folder, name)
            is_plain = os.path.isfile(full) and not os.path.islink(full)
            found[os.path.relpath(full, path)] = os.path.getsize(full) if is_plain else None
    return found


DESCRIPTIONS = {
    "of another program": '{"name": "my data", "files": ["a.csv"]}',
    "empty": "",
    "a list": "[]",
    "of a later version": '{"kind": "graphmount dataset", "version": 2}',
    "incomplete": '{"kind": "graphmount dataset", "version": 1}',
}


@pytest.mark.parametrize("text", DESCRIPTIONS.values(), ids=DESCRIPTIONS)
def test_any_dataset_json_is_not_enough(text, tmp_path):
    folder = tmp_path / "ds"
    folder.mkdir()
    (folder / "dataset.json").write_text(text)
    (folder / "thesis.tex").write_text("years of work")
    before = tree(folder)
    with pytest.raises(FileExistsError, match="no dataset that this graphmount knows, so it is n"):
        compile_it(folder, overwrite=True)
    assert tree(folder) == before
    assert os.listdir(tmp_path) == ["ds"]


def make_link(path):
    path.symlink_to(os.path.dirname(__file__))


def make_socket(path):
    here = os.getcwd()
    os.chdir(path.parent)  # the name of a socket must be short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)
    os.chdir(here)


STRANGERS = {
    "model.pt": lambda path: path.write_bytes(b"weights"),
    "checkpoints/": lambda path: (path.mkdir(), (path / "1.pt").write_bytes(b"w")),
    "empty/": lambda path: path.mkdir(),
    ".hidden": lambda path: path.write_text("x"),
    "features/y.gd": lambda path: path.write_bytes(b"not named by the description"),
    "features/x.gd.bak": lambda path: path.write_bytes(b"x"),
    "splits/.notes": lambda path: path.write_text("x"),
    "link": make_link,
    "features/link.gd": make_link,
    "pipe": os.mkfifo,
    "socket": make_socket,
}


@pytest.mark.parametrize("name", STRANGERS)
def test_what_is_not_ours_is_in_the_way(name, tmp_path):
    folder = tmp_path / "ds"
    compile_it(folder, 1)
    STRANGERS[name](folder / name)
    before = tree(folder)
    with pytest.raises(FileExistsError, match="is not replaced, since it holds") as caught:
        compile_it(folder, 2, overwrite=True)
    assert repr(name) in str(caught.value)
    assert str(folder) in str(caught.value)
    assert tree(folder) == before
    assert os.listdir(tmp_path) == ["ds"]


def test_the_first_strangers_are_named(tmp_path):
    compile_it(tmp_path / "ds", 1)
    for number in range(5):
        (tmp_path / "ds" / f"{number}.pt").write_text("x")
    with pytest.raises(FileExistsError, match=r"'0\.pt', '1\.pt', '2\.pt' and 2 more; move that"):
        compile_it(tmp_path / "ds", 2, overwrite=True)


@pytest.mark.parametrize("name", ["graph.gl", "labels.gd", "features/x.gd"])
def test_a_file_of_ours_that_is_something_else_by_now(name, tmp_path):
    """Its name is in the description, but its content is somebody's."""
    folder = tmp_path / "ds"
    compile_it(folder, 1)
    (folder / name).write_text("a letter to the editor")
    with pytest.raises(FileExistsError, match=f"no file of a dataset: '{name}'"):
        compile_it(folder, 2, overwrite=True)
    assert (folder / name).read_text() == "a letter to the editor"
    (folder / name).unlink()
    (folder / name).symlink_to(__file__)
    with pytest.raises(FileExistsError, match=f"no file of a dataset: '{name}'"):
        compile_it(folder, 2, overwrite=True)


def test_a_damaged_dataset_is_replaced(tmp_path):
    """A file that is missing, cut off or of no bytes is nobody's work."""
    folder = tmp_path / "ds"
    for damage in (
        lambda path: path.unlink(),
        lambda path: os.truncate(path, 0),
        lambda path: os.truncate(path, 5000),
    ):
        compile_it(folder, 1, overwrite=True)
        damage(folder / "features" / "x.gd")
        compile_it(folder, 2, overwrite=True)
        assert version_of(folder) == 2


def late(path, put):
    """Progress that puts something there when the work is half done."""
    is_there = False

    def report(done, total):
        nonlocal is_there
        if not is_there and 2 * done >= total:
            is_there = True
            put(path)

    return report


@pytest.mark.parametrize("exchanges", [True, False])
def test_what_appears_meanwhile_stays(exchanges, tmp_path, monkeypatch):
    """And so does the work of hours: it is beside its place."""
    folder = tmp_path / "ds"
    compile_it(folder, 1)
    if not exchanges:
        monkeypatch.setattr(_folder, "_exchange", lambda *_: False)
    put = late(folder / "model.pt", lambda path: path.write_bytes(b"weights"))
    with pytest.raises(FileExistsError, match=r"'model\.pt'.*the new one is at") as caught:
        compile_it(folder, 2, overwrite=True, progress=put)
    assert str(tmp_path / "ds.new") in str(caught.value)
    assert (folder / "model.pt").read_bytes() == b"weights"
    assert version_of(folder) == 1
    assert version_of(tmp_path / "ds.new") == 2
    assert sorted(os.listdir(tmp_path)) == ["ds", "ds.new"]


@pytest.mark.parametrize("overwrite", [True, False])
def test_a_folder_that_appears_meanwhile_stays(overwrite, tmp_path):
    folder = tmp_path / "ds"

    def put(path):
        path.mkdir()
        (path / "letter").write_text("x")

    with pytest.raises(FileExistsError, match=r"the new one is at .*ds\.new"):
        compile_it(folder, 2, overwrite=overwrite, progress=late(folder, put))
    assert (folder / "letter").read_text() == "x"
    assert version_of(tmp_path / "ds.new") == 2
    (folder / "letter").unlink()
    folder.rmdir()
    with pytest.raises(FileExistsError, match=r"the new one is at .*ds\.new-2"):
        compile_it(folder, 3, progress=late(folder, put))
    assert version_of(tmp_path / "ds.new-2") == 3


@pytest.mark.parametrize("exchanges", [True, False])
def test_what_appears_between_the_check_and_the_exchange(exchanges, tmp_path, monkeypatch):
    folder = tmp_path / "ds"
    compile_it(folder, 1)
    checked = _folder.require_replaceable

    def check(path, *, overwrite):
        checked(path, overwrite=overwrite)
        if is_late:
            (folder / "model.pt").write_bytes(b"weights")

    is_late = False
    monkeypatch.setattr(_folder, "require_replaceable", check)
    if not exchanges:
        monkeypatch.setattr(_folder, "_exchange", lambda *_: False)

    def report(done, total):
        nonlocal is_late
        is_late = done == total

    with pytest.raises(FileExistsError, match=r"'model\.pt'.*the new one is at"):
        compile_it(folder, 2, overwrite=True, progress=report)
    assert (folder / "model.pt").read_bytes() == b"weights"
    assert version_of(folder) == 1
    assert version_of(tmp_path / "ds.new") == 2
    assert sorted(os.listdir(tmp_path)) == ["ds", "ds.new"]


def test_what_appears_while_the_old_one_is_removed(tmp_path, monkeypatch):
    """By somebody who has the old folder open, such as a process whose folder it is."""
    folder = tmp_path / "ds"
    compile_it(folder, 1)

    def remove(old):
        with open(os.path.join(old, "model.pt"), "wb") as file:
            file.write(b"weights")
        return remove_dataset(old)

    monkeypatch.setattr(_folder, "remove_dataset", remove)
    with pytest.warns(RuntimeWarning, match=r"is kept at .*ds\.old"):
        compile_it(folder, 2, overwrite=True)
    assert version_of(folder) == 2
    assert (tmp_path / "ds.old" / "model.pt").read_bytes() == b"weights"
    assert sorted(os.listdir(tmp_path)) == ["ds", "ds.old"]


def test_removing_follows_no_link(tmp_path):
    """A folder of the dataset that was turned into a link leads nowhere."""
    folder = tmp_path / "ds"
    compile_it(folder, 1)
    os.rename(folder / "features", tmp_path / "mine")
    (folder / "features").symlink_to(tmp_path / "mine")
    assert not remove_dataset(str(folder))
    assert (tmp_path / "mine" / "x.gd").exists()
    assert (folder / "features").is_symlink()
    assert (folder / "dataset.json").exists()  # who comes next knows what it is


def test_an_old_dataset_that_waits_is_put_back_only_if_complete(tmp_path):
    folder = tmp_path / "ds"
    compile_it(folder, 1)
    folder.rename(tmp_path / ".ds.graphmount-partial-old")
    (tmp_path / ".ds.graphmount-partial-old" / "labels.gd").unlink()
    compile_it(folder, 2)
    assert version_of(folder) == 2
    assert os.listdir(tmp_path) == ["ds"]


def test_folders_of_older_versions_are_replaced(tmp_path):
    folder = tmp_path / "ds"
    compile_it(folder, 1)
    path = folder / "dataset.json"
    description = json.loads(path.read_text())
    del description["files"]
    path.write_text(json.dumps(description))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile_it(folder, 2, overwrite=True)
    assert version_of(folder) == 2
    assert os.listdir(tmp_path) == ["ds"]
