"""The hidden names beside a dataset: what is not ours is never emptied, followed or removed."""

from __future__ import annotations

import fcntl
import os
import socket
import stat

import numpy as np
import pytest

import graphmount as gm

EDGES = ([2, 2, 0], [0, 1, 1])
LOCK, PARTIAL = ".ds.graphmount-lock", ".ds.graphmount-partial"


def compile_it(path):
    return gm.compile_dataset(path, edges=EDGES, features={"x": np.eye(3)})


def test_a_link_as_a_lock(tmp_path):
    (tmp_path / "letter").write_text("dear")
    (tmp_path / LOCK).symlink_to(tmp_path / "letter")
    with pytest.raises(FileExistsError, match=r"needed for a lock.*move it away"):
        compile_it(tmp_path / "ds")
    assert (tmp_path / "letter").read_text() == "dear"
    (tmp_path / LOCK).unlink()
    (tmp_path / LOCK).symlink_to(tmp_path / "nothing")  # nor is what it leads to made
    with pytest.raises(FileExistsError, match="needed for a lock"):
        compile_it(tmp_path / "ds")
    assert sorted(os.listdir(tmp_path)) == [LOCK, "letter"]


def make_folder(path):
    path.mkdir()
    (path / "letter").write_text("dear")


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as server:
        folder = os.open(path.parent, os.O_RDONLY)
        server.bind(f"/proc/self/fd/{folder}/{path.name}")
        os.close(folder)


def make_hard_link(path):
    (path.parent / "other").write_text("")
    os.link(path.parent / "other", path)


STRANGERS = {
    "a file": lambda path: path.write_text("dear"),
    "a folder": make_folder,
    "a pipe": os.mkfifo,
    "a socket": make_socket,
    "a device": lambda path: path.symlink_to("/dev/null"),
    "another name of a file": make_hard_link,
}


@pytest.mark.parametrize("kind", STRANGERS)
def test_a_stranger_as_a_lock(kind, tmp_path):
    STRANGERS[kind](tmp_path / LOCK)
    before = (tmp_path / LOCK).lstat()
    with pytest.raises(FileExistsError, match="needed for a lock"):
        compile_it(tmp_path / "ds")
    assert os.path.samestat((tmp_path / LOCK).lstat(), before)
    assert not (tmp_path / "ds").exists()
    if kind == "a file":
        assert (tmp_path / LOCK).read_text() == "dear"


@pytest.mark.parametrize("name", [PARTIAL, PARTIAL + "-old"])
@pytest.mark.parametrize("kind", STRANGERS)
def test_a_stranger_as_the_folder_to_fill(kind, name, tmp_path):
    STRANGERS[kind](tmp_path / name)
    before = (tmp_path / name).lstat()
    with pytest.raises(FileExistsError, match="not made by graphmount; move it away"):
        compile_it(tmp_path / "ds")
    assert os.path.samestat((tmp_path / name).lstat(), before)
    assert not (tmp_path / "ds").exists()
    assert not (tmp_path / LOCK).exists()
    if kind == "a folder":
        assert (tmp_path / name / "letter").read_text() == "dear"


def test_a_link_to_a_folder_as_the_folder_to_fill(tmp_path):
    compile_it(tmp_path / "other")
    (tmp_path / PARTIAL).symlink_to(tmp_path / "other")
    with pytest.raises(FileExistsError, match="not made by graphmount"):
        compile_it(tmp_path / "ds")
    assert gm.Dataset(tmp_path / "other").num_nodes == 3


@pytest.mark.parametrize("content", [[], [".graphmount-partial", "graph.gl"], ["dataset.json"]])
def test_what_a_killed_attempt_left_is_cleared(content, tmp_path):
    (tmp_path / LOCK).touch()
    (tmp_path / PARTIAL).mkdir()
    for name in content:
        (tmp_path / PARTIAL / name).touch()
    compile_it(tmp_path / "ds")
    assert os.listdir(tmp_path) == ["ds"]
    names = sorted(os.listdir(tmp_path / "ds"))
    assert names == ["dataset.json", "features", "graph.gl"]


def test_a_lock_that_was_replaced_is_let_be(tmp_path):
    """Somebody moved ours away, and has another one there now."""

    def swap(done, total):
        if done == total:
            return
        (tmp_path / LOCK).unlink(missing_ok=True)
        (tmp_path / LOCK).write_text("dear")

    gm.compile_dataset(tmp_path / "ds", edges=EDGES, progress=swap)
    assert (tmp_path / LOCK).read_text() == "dear"


def test_a_lock_is_held_by_others(tmp_path):
    (tmp_path / LOCK).touch()
    with open(tmp_path / LOCK, "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(
            BlockingIOError, match="is being compiled or changed by another process"
        ):
            compile_it(tmp_path / "ds")
    assert (tmp_path / LOCK).exists()
    compile_it(tmp_path / "ds")
    assert os.listdir(tmp_path) == ["ds"]


@pytest.mark.parametrize("name", ["d" * 240, "d" * 255, "ü" * 120, "d" * 231, "d" * 232])
def test_long_names(name, tmp_path):
    compile_it(tmp_path / name)
    assert gm.Dataset(tmp_path / name).num_nodes == 3
    gm.compile_graph(EDGES, tmp_path / name / "graph.gl")
    long = "x" * 240
    gm.compile_features(np.eye(3), tmp_path / long)
    assert sorted(os.listdir(tmp_path)) == sorted([name, long])


def test_names_that_are_too_long(tmp_path):
    name = "d" * 256
    for write in (
        lambda: gm.compile_dataset(tmp_path / name, edges=Unread()),
        lambda: gm.compile_graph(Unread(), tmp_path / name),
        lambda: gm.compile_features(Unread(), tmp_path / name),
    ):
        with pytest.raises(OSError, match="File name too long") as caught:
            write()
        assert caught.value.filename == str(tmp_path / name)
    with pytest.raises(ValueError, match=r"'x{40}.*' cannot be the name of a file: it is too long"):
        gm.compile_dataset(tmp_path / "ds", edges=EDGES, features={"x" * 253: np.eye(3)})
    assert os.listdir(tmp_path) == []


class Unread:
    """A source that nobody should read: what is wrong shows before."""

    def __arrow_c_stream__(self, requested_schema=None):
        raise AssertionError("read before the output was looked at")


@pytest.fixture
def closed_folder(tmp_path):
    """A folder into which nothing can be written, not even by root: /proc is one."""
    folder = tmp_path / "closed"
    folder.mkdir()
    if os.geteuid() == 0:
        return "/proc/self"
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    return str(folder)


def test_a_folder_that_cannot_be_written(closed_folder, tmp_path):
    for write in (
        lambda: gm.compile_graph(Unread(), f"{closed_folder}/g.gl"),
        lambda: gm.compile_features(Unread(), f"{closed_folder}/x.gd"),
        lambda: gm.compile_dataset(f"{closed_folder}/ds", edges=Unread()),
    ):
        with pytest.raises(OSError, match=r"can be made in .*; choose another") as caught:
            write()
        assert caught.value.filename.startswith(os.path.realpath(closed_folder))
    for write in (
        lambda: gm.compile_graph(Unread(), tmp_path / "g.gl", tmp=closed_folder),
        lambda: gm.compile_features(Unread(), tmp_path / "x.gd", tmp=closed_folder),
        lambda: gm.compile_dataset(tmp_path / "ds", edges=Unread(), tmp=closed_folder),
    ):
        with pytest.raises(OSError, match="can be made in this folder; pass tmp= for another"):
            write()
    assert os.listdir(tmp_path) == ["closed"]
