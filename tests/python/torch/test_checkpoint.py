"""Checkpoints of model, optimizer and loader: all ranks go on together, or none changes.

Ranks are threads here, each with a group of its own whose `gather` is a meeting of all threads.
"""

from __future__ import annotations

import os
import pickle
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="torch is not installed")
import graphmount as gm  # noqa: E402
import graphmount.torch  # noqa: E402
from graphmount.errors import DatasetChangedError, FormatError, RankError  # noqa: E402
from graphmount.torch.ranks import checkpoint  # noqa: E402

GLOBAL = 12
NUM_SEEDS = 100


class Meeting:
    """What the groups of threads share."""

    def __init__(self, world_size):
        self.barrier = threading.Barrier(world_size, timeout=30)
        self.values = [None] * world_size

    def run(self, part):
        """Calls `part(group)` for each rank; what each returned or raised."""

        def call(rank):
            try:
                return part(ThreadGroup(rank, self))
            except Exception as error:  # noqa: BLE001  (which is looked at)
                return error

        with ThreadPoolExecutor(len(self.values)) as pool:
            return list(pool.map(call, range(len(self.values))))


class ThreadGroup(gm.torch.RankGroup):
    def __init__(self, rank, meeting):
        super().__init__()
        self.rank, self.world_size, self._meeting = rank, len(meeting.values), meeting

    def gather(self, value):
        self._meeting.values[self.rank] = value
        self._meeting.barrier.wait()
        found = list(self._meeting.values)
        self._meeting.barrier.wait()
        return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("checkpoint") / "data"
    make_data(path)
    return path


def make_data(path, last=1.0, **options):
    generator = np.random.default_rng(0)
    x = generator.random((NUM_SEEDS, 4), np.float32)
    x[-1, -1] = last
    gm.compile_dataset(
        path,
        edges=generator.integers(0, NUM_SEEDS, (2, 500)),
        num_nodes=NUM_SEEDS,
        features={"x": x},
        labels=np.arange(NUM_SEEDS) % 3,
        order="given",
        **options,
    )


class Training:
    """A rank: everything that a checkpoint is made of."""

    def __init__(self, folder, rank=0, world_size=1, *, width=4, size=None, **options):
        self.dataset = gm.Dataset(folder)
        self.loader = gm.torch.NeighborLoader(
            self.dataset,
            [3],
            batch_size=size or GLOBAL // world_size,
            rank=rank,
            world_size=world_size,
            **({"shuffle": True, "seed": 4, "memory": "1MiB"} | options),
        )
        torch.manual_seed(0)
        self.model = torch.nn.Sequential(torch.nn.Linear(width, 3), torch.nn.Dropout(0.5))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.05)
        self.objects = {
            "model": self.model,
            "optimizer": self.optimizer,
            "loader": self.loader,
        }

    def step(self, batch):
        out = self.model(batch.x)[: batch.num_seeds]
        loss = torch.nn.functional.cross_entropy(out, batch.labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "last.pt"


@given(st.data())
@settings(max_examples=2)
def test_a_training_goes_on_to_the_bit(folder, tmp_path_factory, data):
    path = tmp_path_factory.mktemp("go-on") / "last.pt"
    first = Training(folder)
    losses = [first.step(batch) for _ in range(2) for batch in first.loader]
    found = []
    while len(found) < len(losses):
        again = Training(folder)  # as after a kill: all that is known is in the file
        extra = gm.torch.load_checkpoint(path, **again.objects)
        found = [] if extra is None else extra["losses"]
        until = len(found) + data.draw(st.integers(1, 7))
        every = data.draw(st.integers(1, 3))
        while len(found) < min(until, len(losses)):
            for batch in again.loader:
                found.append(again.step(batch))
                if len(found) % every == 0 or len(found) == len(losses):
                    gm.torch.save_checkpoint(path, **again.objects, extra={"losses": found})
                if len(found) >= until:
                    break
        if len(found) < len(losses) and path.exists():
            found = torch.load(path, weights_only=True)["extra"]["losses"]
    assert found == losses
    saved = torch.load(path, weights_only=True)
    for name, value in first.model.state_dict().items():
        assert torch.equal(saved["model"][name], value)


def train_part(folder, path, seen, num_batches):
    """Goes on from the file for some batches, and saves."""

    def part(group):
        training = Training(folder, group.rank, group.world_size)
        gm.torch.load_checkpoint(path, **training.objects, ranks=group)
        own = []
        for count, batch in enumerate(training.loader, 1):
            training.step(batch)
            places = batch.input_ids.tolist()
            own += places[: len(places) - batch.num_repeated]
            if count == num_batches:
                gm.torch.save_checkpoint(path, **training.objects, ranks=group)
                break
        seen.extend(own)
        return training.loader.state_dict()["epoch"]

    return part


@pytest.mark.parametrize("worlds", [[4, 2, 3], [1, 12, 6], [3, 4, 1]], ids=str)
def test_other_numbers_of_ranks_in_one_epoch(folder, path, worlds):
    seen = []
    for number, world_size in enumerate(worlds):
        until = 3 if number + 1 < len(worlds) else None
        found = Meeting(world_size).run(train_part(folder, path, seen, until))
        assert found == [0 if until else 1] * world_size
    assert sorted(seen) == list(range(NUM_SEEDS))


def test_other_global_batches_are_refused(folder, path):
    first = Training(folder)
    gm.torch.save_checkpoint(path, **first.objects)
    other = Training(folder, 0, 5, size=4)
    with pytest.raises(ValueError, match=r"batch_size x world_size is 12 x 1 = 12 .* 4 x 5 = 20"):
        gm.torch.load_checkpoint(path, **other.objects)


def refuses_alone(folder, path, error, match, **options):
    """Loading raises, and nothing changes."""
    training = Training(folder, **options)
    before = {name: value.clone() for name, value in training.model.state_dict().items()}
    place = training.loader.state_dict()
    with pytest.raises(error, match=match) as raised:
        gm.torch.load_checkpoint(path, **training.objects)
    assert training.loader.state_dict() == place
    for name, value in training.model.state_dict().items():
        assert torch.equal(before[name], value)
    return str(raised.value)


def test_changed_data_is_refused_by_name(folder, path, tmp_path):
    training = Training(folder)
    for batch in training.loader:
        training.step(batch)
        break
    gm.torch.save_checkpoint(path, **training.objects)
    changed = tmp_path / "changed"
    make_data(changed, last=2.0)
    text = refuses_alone(changed, path, DatasetChangedError, "not that of the checkpoint")
    assert "features 'x' is" in text
    assert "graph" not in text
    # The same content in another place is the same data.
    copied = tmp_path / "copied"
    shutil.copytree(folder, copied)
    assert gm.torch.load_checkpoint(path, **Training(copied).objects) == {}


def test_data_that_differs_between_ranks_is_refused_by_name(folder, path, tmp_path):
    changed = tmp_path / "changed"
    make_data(changed, last=2.0)

    def part(group):
        training = Training(changed if group.rank == 1 else folder, group.rank, group.world_size)
        return gm.torch.load_checkpoint(path, **training.objects, ranks=group)

    for error in Meeting(3).run(part):
        assert isinstance(error, DatasetChangedError)
        assert "rank 1 (on " in str(error)
        assert "features 'x'" in str(error)


def test_what_does_not_fit_is_refused(folder, path):
    gm.torch.save_checkpoint(path, **Training(folder).objects)
    refuses_alone(folder, path, ValueError, "shuffle is True in the state", shuffle=False)
    refuses_alone(folder, path, ValueError, r"0.weight of the model is \(3, 4\)", width=5)
    training = Training(folder)
    training.optimizer.add_param_group({"params": [torch.nn.Parameter(torch.zeros(1))]})
    with pytest.raises(ValueError, match=r"groups of \[2\] parameters"):
        gm.torch.load_checkpoint(path, **training.objects)


class Harmful:
    def __reduce__(self):
        return os.abort, ()


def test_damaged_files_are_refused(folder, path):
    gm.torch.save_checkpoint(path, **Training(folder).objects)
    whole = path.read_bytes()
    for damaged in (b"", b"text", whole[: len(whole) // 2], whole[:-100], pickle.dumps(Harmful())):
        path.write_bytes(damaged)
        refuses_alone(folder, path, FormatError, "no checkpoint, or is damaged")
    for other in ({"model": {}}, [1], {"kind": "graphmount checkpoint", "version": 99}):
        torch.save(other, path)
        refuses_alone(folder, path, FormatError, "no checkpoint, or is damaged")
    torch.save({"kind": Harmful()}, path)
    refuses_alone(folder, path, FormatError, "no checkpoint, or is damaged")


def test_a_file_that_cannot_be_written_leaves_the_old_one(folder, path, monkeypatch):
    training = Training(folder)
    gm.torch.save_checkpoint(path, **training.objects, extra={"step": 1})
    whole = path.read_bytes()

    def save(_, file):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    def part(group):
        mine = Training(folder, group.rank, group.world_size)
        return gm.torch.save_checkpoint(path, **mine.objects, ranks=group)

    monkeypatch.setattr(checkpoint, "_as_plain_data", lambda _: {})
    with monkeypatch.context() as patched:
        patched.setattr(torch, "save", save)
        found = Meeting(2).run(part)
    assert [type(error) for error in found] == [OSError, OSError]
    assert "rank 0 could not write" in str(found[1])
    assert path.read_bytes() == whole
    assert os.listdir(path.parent) == [path.name]


def test_what_a_killed_writer_left_is_removed(folder, path):
    training = Training(folder)
    left = path.parent / f".{path.name}.unfinished"
    left.write_bytes(b"half")
    assert gm.torch.load_checkpoint(path, **training.objects) is None
    assert not left.exists()
    # A link in its place is not followed.
    left.symlink_to(path.parent / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        gm.torch.save_checkpoint(path, **training.objects)
    assert not (path.parent / "elsewhere").exists()


def test_ranks_that_are_not_together_are_named(folder, path):
    def part(group):
        training = Training(folder, group.rank, group.world_size)
        for number, batch in enumerate(training.loader):
            training.step(batch)
            if number == (1 if group.rank == 2 else 0):
                break
        return gm.torch.save_checkpoint(path, **training.objects, ranks=group)

    for error in Meeting(3).run(part):
        assert isinstance(error, RankError)
        assert error.rank == 2
        assert "rank 2 is at batch 2 of epoch 0, and rank 0 at batch 1 of epoch 0" in str(error)
    assert not path.exists()

    def other_seed(group):
        training = Training(folder, group.rank, group.world_size, seed=group.rank)
        return gm.torch.save_checkpoint(path, **training.objects, ranks=group)

    for error in Meeting(2).run(other_seed):
        assert "rank 1 has a loader with another order of seeds" in str(error)


def test_only_some_ranks_see_the_file(folder, path):
    def save(group):
        training = Training(folder, group.rank, group.world_size)
        return gm.torch.save_checkpoint(path, **training.objects, ranks=group)

    assert Meeting(2).run(save) == [None, None]

    def load(group):
        training = Training(folder, group.rank, group.world_size)
        place = path if group.rank == 0 else path.with_name("elsewhere.pt")
        return gm.torch.load_checkpoint(place, **training.objects, ranks=group)

    one, other = Meeting(2).run(load)
    assert isinstance(one, RankError)
    assert "rank 1 (on " in str(one)
    assert "sees no checkpoint" in str(one)
    assert isinstance(other, RankError)
    assert "and this one does not" in str(other)
    shutil.copy(path, path.with_name("elsewhere.pt"))
    assert Meeting(2).run(load) == [{}, {}]
    Meeting(2).run(save)
    assert all("sees another checkpoint" in str(error) for error in Meeting(2).run(load))
    path.write_bytes(b"damaged")
    one, other = Meeting(2).run(load)
    assert isinstance(one, FormatError)
    assert "rank 0 (on " in str(other)
    assert "cannot go on" in str(other)


def test_extra_is_plain_data(folder, path):
    training = Training(folder)
    extra = {"best": 0.5, "names": ["a"], "rows": torch.arange(3), "none": None}
    gm.torch.save_checkpoint(path, **training.objects, extra=extra)
    found = gm.torch.load_checkpoint(path, **training.objects)
    assert torch.equal(found.pop("rows"), torch.arange(3))
    assert found == {"best": 0.5, "names": ["a"], "none": None}
    with pytest.raises(TypeError, match="extra has something else"):
        gm.torch.save_checkpoint(path, **training.objects, extra={"loader": Harmful()})
    with pytest.raises(TypeError, match="loader must be a loader"):
        gm.torch.save_checkpoint(path, **(training.objects | {"loader": training.model}))
