"""Datasets that grow: tables, labels and splits come and go, and nobody sees half of it."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

import graphmount as gm
from graphmount._compile.changes import change, operations
from graphmount._compile.output.atomic_folder import filled_beside

NUM_NODES = 50
ROWS = np.arange(NUM_NODES, dtype=np.float32)[:, None]
ALL = np.arange(NUM_NODES)


def make(path, **options):
    edges = np.random.default_rng(2).integers(0, NUM_NODES, (2, 300))
    options = {"features": {"x": ROWS}, "labels": ALL % 5, "splits": {"train": [1, 2]}} | options
    gm.compile_dataset(path, edges=tuple(edges), num_nodes=NUM_NODES, **options)
    return gm.Dataset(path)


@pytest.fixture
def dataset(tmp_path):
    made = make(tmp_path / "data", source_rows=True)
    assert made.graph.order != 0
    return made


def by_source(dataset, name):
    """The rows of a table in the order of the source."""
    return dataset.features[name].gather(dataset.to_internal(ALL))


def files_in(path):
    return {file.relative_to(path).as_posix() for file in Path(path).rglob("*") if file.is_file()}


def nothing_beside(dataset):
    return [file for file in os.listdir(os.path.dirname(dataset.path)) if file != "data"] == []


class TestTables:
    def test_rows_go_to_the_nodes_of_the_source(self, dataset):
        grown = dataset.add_features("emb", ROWS * 10)
        assert by_source(grown, "emb").tolist() == (ROWS * 10).tolist()
        assert sorted(grown.features) == ["emb", "x"]
        assert sorted(dataset.features) == ["x"]
        assert gm.verify(dataset.path).ok
        assert nothing_beside(dataset)

    def test_rows_with_keys(self, dataset):
        order = np.random.default_rng(0).permutation(NUM_NODES)
        grown = dataset.add_features("emb", gm.Table(source=ROWS[order], key=order))
        assert by_source(grown, "emb").tolist() == ROWS.tolist()

    def test_a_table_in_the_order_of_the_dataset(self, dataset, tmp_path):
        inside = dataset.features["x"]
        for source in (inside, inside.path):
            grown = dataset.add_features("same", source, overwrite=True)
            assert by_source(grown, "same").tolist() == ROWS.tolist()
        other = make(tmp_path / "other", order=np.random.default_rng(9).random(NUM_NODES))
        with pytest.raises(gm.errors.OrderError, match="order of another graph"):
            dataset.add_features("wrong", other.features["x"])

    def test_what_inference_wrote(self, dataset, tmp_path):
        torch = pytest.importorskip("graphmount.torch", exc_type=ImportError)
        torch.layerwise_inference(dataset, [lambda x, _: 2 * x], out=tmp_path / "out.gd")
        grown = dataset.add_features("out", tmp_path / "out.gd")
        assert by_source(grown, "out").tolist() == (2 * ROWS).tolist()

    def test_rows_without_keys_of_nodes_that_have_names(self, tmp_path):
        polars = pytest.importorskip("polars")
        edges = polars.DataFrame({"from": ["a", "b"], "to": ["b", "c"]})
        gm.compile_dataset(tmp_path / "data", edges=edges, ids="map")
        named = gm.Dataset(tmp_path / "data")
        with pytest.raises(gm.errors.OrderError, match=r"nobody knows which node.*key="):
            named.add_features("x", [1.0, 2.0, 3.0])
        grown = named.add_features("x", gm.Table(source=[1.0, 2.0, 3.0], key=["c", "a", "b"]))
        assert grown.features["x"].gather(grown.to_internal(["a", "b", "c"])).tolist() == [2, 3, 1]

    def test_the_order_of_the_source(self, tmp_path):
        given = make(tmp_path / "data", order="given").add_features("emb", ROWS)
        assert given.features["emb"].numpy().tolist() == ROWS.tolist()

    @pytest.mark.parametrize("rows", [ROWS[:-1], np.concatenate([ROWS, ROWS])])
    def test_another_count(self, dataset, rows):
        before = files_in(dataset.path)
        with pytest.raises(gm.errors.OrderError, match="50 nodes"):
            dataset.add_features("emb", rows)
        assert files_in(dataset.path) == before
        assert nothing_beside(dataset)

    def test_a_name_that_is_taken(self, dataset):
        with pytest.raises(FileExistsError, match="has features 'x'; pass overwrite=True"):
            dataset.add_features("x", ROWS)
        grown = dataset.add_features("x", ROWS + 1, overwrite=True)
        assert by_source(grown, "x").tolist() == (ROWS + 1).tolist()
        assert by_source(dataset, "x").tolist() == ROWS.tolist()
        assert len(files_in(dataset.path)) == 5  # the old file is gone
        with pytest.raises(ValueError, match="cannot be the name of a file"):
            dataset.add_features("../x", ROWS)

    def test_tables_of_edges(self, dataset, tmp_path):
        values = np.arange(300)
        grown = dataset.add_edge_features("since", values)
        rows = grown.graph.neighbor_lists("in").source_rows
        assert grown.edge_features["since"].numpy().tolist() == rows.tolist()
        with pytest.raises(gm.errors.MissingDataError, match="source_rows=True"):
            make(tmp_path / "without").add_edge_features("since", values)
        with pytest.raises(gm.errors.GraphmountError, match="300"):
            dataset.add_edge_features("short", values[:-1])


class TestLabelsAndSplits:
    def test_labels(self, dataset):
        grown = dataset.set_labels(ALL * 2)
        assert grown.labels[grown.to_internal(ALL)].tolist() == (ALL * 2).tolist()
        assert dataset.labels[dataset.to_internal(ALL)].tolist() == (ALL % 5).tolist()
        again = grown.set_labels(ALL * 3)
        assert again.labels[again.to_internal(ALL)].tolist() == (ALL * 3).tolist()
        assert gm.verify(dataset.path).ok
        assert sum("labels" in file for file in files_in(dataset.path)) == 1

    def test_splits(self, dataset, tmp_path):
        with pytest.raises(gm.errors.IdError, match=r"split 'new'.*external.*internal"):
            dataset.set_split("new", [5, 6])
        grown = dataset.set_split("new", [5, 6], ids="external")
        assert grown.to_external(grown.splits["new"]).tolist() == [5, 6]
        grown = grown.set_split("new", ALL < 3, ids="external")
        grown = grown.set_split("train", [0], ids="internal")
        assert sorted(grown.to_external(grown.splits["new"])) == [0, 1, 2]
        assert grown.splits["train"].tolist() == [0]
        (tmp_path / "ids.txt").write_text("7\n9\n")
        grown = grown.set_split("file", tmp_path / "ids.txt", ids="external")
        assert grown.to_external(grown.splits["file"]).tolist() == [7, 9]
        loader = gm.NeighborLoader(grown, [2], input_nodes="file")
        assert [batch.features["x"][0, 0] for batch in loader] == [7, 9]

    def test_nodes_that_do_not_exist(self, dataset):
        with pytest.raises(gm.errors.IdError, match="50"):
            dataset.set_split("new", [50], ids="external")


class TestRemoving:
    def test_by_name(self, dataset):
        smaller = dataset.remove("x").remove("train").remove("labels")
        assert (dict(smaller.features), dict(smaller.splits), smaller.labels) == ({}, {}, None)
        assert files_in(dataset.path) == {"dataset.json", "graph.gl"}
        assert sorted(os.listdir(dataset.path)) == ["dataset.json", "graph.gl"]
        # What was open still is.
        assert by_source(dataset, "x").tolist() == ROWS.tolist()
        gm.compile_dataset(dataset.path, edges=([0], [1]), overwrite=True)

    def test_what_is_not_there(self, dataset):
        with pytest.raises(ValueError, match="no 'y'; it has features 'x', splits 'train', labels"):
            dataset.remove("y")
        with pytest.raises(ValueError, match="no 'x'"):
            dataset.remove("x", kind="splits")

    def test_two_of_one_name(self, dataset):
        both = dataset.set_split("x", [1], ids="internal")
        with pytest.raises(ValueError, match="more than once; say which by kind='features' or"):
            both.remove("x")
        assert sorted(both.remove("x", kind="splits").features) == ["x"]

    @pytest.mark.parametrize("reader", ["mapped", "pread", "uring"])
    def test_what_a_loader_reads(self, dataset, reader):
        if reader not in dataset.features["x"].readers:
            pytest.skip("not to be had here")
        loader = gm.NeighborLoader(dataset, [2], batch_size=5, memory=0, reader=reader)
        batches = iter(loader)
        first = next(batches)
        dataset.remove("x")
        for batch in (first, *batches, *loader):
            expected = dataset.to_external(batch.nodes)
            assert batch.features["x"][:, 0].tolist() == expected.tolist()


class TestOthers:
    def test_another_dataset_in_the_folder(self, dataset):
        gm.compile_dataset(dataset.path, edges=([0], [1]), num_nodes=NUM_NODES, overwrite=True)
        with pytest.raises(gm.errors.DatasetChangedError, match="another graph"):
            dataset.add_features("emb", ROWS)

    def test_changes_since_it_was_opened_are_kept(self, dataset):
        dataset.add_features("one", ROWS)
        assert sorted(dataset.add_features("two", ROWS).features) == ["one", "two", "x"]

    def test_a_link_in_the_folder_is_not_followed(self, dataset, tmp_path):
        smaller = dataset.remove("train")
        (tmp_path / "elsewhere").mkdir()
        Path(dataset.path, "splits").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(gm.errors.FormatError, match="symbolic link"):
            smaller.set_split("new", [1], ids="internal")
        assert list((tmp_path / "elsewhere").iterdir()) == []

    def test_one_change_at_a_time(self, dataset):
        with filled_beside(dataset.path):
            with pytest.raises(BlockingIOError, match="compiled or changed by another process"):
                dataset.add_features("emb", ROWS)
            with pytest.raises(BlockingIOError, match="compiled or changed by another process"):
                gm.compile_dataset(dataset.path, edges=([0], [1]), overwrite=True)

    def test_a_pickle_of_the_version_before(self, dataset):
        pickled = pickle.dumps(dataset)
        dataset.add_features("emb", ROWS)
        with pytest.raises(gm.errors.DatasetChangedError):
            pickle.loads(pickled)  # noqa: S301

    def test_folders_without_a_list_of_files(self, dataset):
        path = Path(dataset.path, "dataset.json")
        import json

        described = json.loads(path.read_text())
        del described["files"]
        path.write_text(json.dumps(described))
        assert sorted(gm.Dataset(dataset.path).add_features("emb", ROWS).features) == ["emb", "x"]
        assert "files" in json.loads(path.read_text())

    def test_opening_while_it_changes(self, dataset):
        is_over = threading.Event()
        wrong = []

        def open_again():
            while not is_over.is_set():
                try:
                    opened = gm.Dataset(dataset.path)
                    shift = opened.labels[opened.to_internal([0])][0]
                    if by_source(opened, "x").tolist() != ROWS.tolist() or shift not in range(9):
                        wrong.append("mixed")
                except Exception as error:  # noqa: BLE001
                    wrong.append(repr(error))

        threads = [threading.Thread(target=open_again) for _ in range(2)]
        for thread in threads:
            thread.start()
        for number in range(8):
            dataset.set_labels(ALL + number)
            dataset.add_features(f"t{number}", ROWS).remove(f"t{number}")
        is_over.set()
        for thread in threads:
            thread.join()
        assert wrong == []


class TestFaults:
    @pytest.mark.parametrize("place", ["write_description", "note_file", "compile_table"])
    def test_an_error_in_the_middle_changes_nothing(self, dataset, monkeypatch, place):
        def fail(*_, **__):
            raise OSError(28, "No space left on device")

        before = files_in(dataset.path)
        with monkeypatch.context() as patch:
            patch.setattr(operations if place == "compile_table" else change, place, fail)
            with pytest.raises(OSError, match="No space left"):
                dataset.add_features("emb", ROWS)
        assert files_in(dataset.path) == before
        assert sorted(gm.Dataset(dataset.path).features) == ["x"]
        assert nothing_beside(dataset)
        assert sorted(dataset.add_features("emb", ROWS).features) == ["emb", "x"]

    @pytest.mark.parametrize("place", ["write_description", "remove_unnamed", "note_file"])
    @pytest.mark.parametrize("what", ["add", "set"])
    def test_a_kill_in_the_middle_is_cleaned_up_by_the_next(self, dataset, place, what):
        process = os.fork()
        if process == 0:
            setattr(change, place, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
            if what == "add":
                dataset.add_features("emb", ROWS)
            else:
                dataset.set_labels(ALL)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -signal.SIGKILL
        opened = gm.Dataset(dataset.path)  # whole, before or after the change
        assert by_source(opened, "x").tolist() == ROWS.tolist()
        opened.set_split("new", [1], ids="internal")
        named = {"dataset.json", *gm.Dataset(dataset.path).description["files"]}
        assert files_in(dataset.path) == named
        assert nothing_beside(dataset)
        gm.compile_dataset(dataset.path, edges=([0], [1]), overwrite=True)

    def test_a_child_does_not_finish_what_its_parent_began(self, dataset, monkeypatch):
        real = operations.compile_table

        def fork_in_the_middle(*args, **options):
            process = os.fork()
            done = real(*args, **options) if process else None
            if process:
                os.waitpid(process, 0)
            return done

        monkeypatch.setattr(operations, "compile_table", fork_in_the_middle)
        parent = os.getpid()
        try:
            grown = dataset.add_features("emb", ROWS)
        except BaseException:
            if os.getpid() != parent:
                os._exit(1)
            raise
        if os.getpid() != parent:
            os._exit(0)
        assert by_source(grown, "emb").tolist() == ROWS.tolist()


def test_the_command_line(dataset, tmp_path, capsys):
    from graphmount.cli import main

    np.save(tmp_path / "emb.npy", ROWS)
    np.save(tmp_path / "y.npy", ALL)
    (tmp_path / "fold.txt").write_text("3\n4\n")
    folder = dataset.path
    for arguments in (
        ["add-features", folder, "emb", str(tmp_path / "emb.npy"), "--dtype", "float16"],
        ["set-labels", folder, str(tmp_path / "y.npy")],
        ["set-split", folder, "fold", str(tmp_path / "fold.txt")],
        ["remove", folder, "x"],
    ):
        assert main(["dataset", *arguments]) == 0
    assert "split 'fold' set" in capsys.readouterr().out
    grown = gm.Dataset(folder)
    assert str(grown.features["emb"].dtype) == "float16"
    assert grown.labels[grown.to_internal([7])].tolist() == [7]
    assert grown.to_external(grown.splits["fold"]).tolist() == [3, 4]
    assert "x" not in grown.features
    assert main(["dataset", "remove", folder, "x"]) == 2
    assert "has no 'x'; it has features 'emb'" in capsys.readouterr().err
    assert main(["dataset", "add-features", folder, "emb", str(tmp_path / "emb.npy")]) == 2
    assert "overwrite" in capsys.readouterr().err
