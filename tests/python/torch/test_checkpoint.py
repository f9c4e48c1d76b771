"""Checkpoints of model, optimizer and loader: all ranks go on together, or none changes.

Ranks are threads here, each with a group of its own whose `gather` is a meeting of all threads.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import os
import pickle
import resource
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


@contextlib.contextmanager
def files_of_at_most(size):
    """No file gets larger, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def save_together(trainings, path):
    """Two ranks save; what each returned or raised."""

    def part(group):
        training = trainings[group.rank]
        return gm.torch.save_checkpoint(path, **training.objects, ranks=group)

    return Meeting(len(trainings)).run(part)


@pytest.fixture
def trainings(folder):
    return [Training(folder, rank, 2) for rank in range(2)]


@pytest.mark.parametrize("size", [0, 1000, 4096])
def test_a_full_disk_leaves_the_old_file(trainings, path, size):
    assert save_together(trainings, path) == [None, None]
    whole = path.read_bytes()
    assert len(whole) > 4096
    with files_of_at_most(size):
        found = save_together(trainings, path)
    assert [type(error) for error in found] == [OSError, OSError]
    assert found[0].errno == errno.EFBIG
    assert found[0].filename == str(path)
    assert f"rank 0 could not write the checkpoint {path}: [Errno 27]" in str(found[1])
    assert path.read_bytes() == whole
    assert os.listdir(path.parent) == [path.name]


def test_whatever_fails_is_told_to_all(trainings, path, tmp_path):
    trainings[0].objects["model"] = StatefulModel(threading.Lock())  # which nobody can pickle
    one, other = save_together(trainings, path)
    assert isinstance(one, TypeError)
    assert "rank 0 could not write" in str(other)
    trainings[0].objects["model"] = StatefulModel(KeyError("no such state"))
    one, other = save_together(trainings, path)
    assert isinstance(one, KeyError)
    assert "no such state" in str(other)
    assert os.listdir(tmp_path) == []
    trainings[0].objects["model"] = trainings[0].model
    one, other = save_together(trainings, tmp_path)  # a folder
    assert isinstance(one, IsADirectoryError)
    one, other = save_together(trainings, tmp_path / "none" / "last.pt")
    assert isinstance(one, FileNotFoundError)
    assert "could not write" in str(other)


class StatefulModel(torch.nn.Module):
    def __init__(self, state):
        super().__init__()
        self.state = state

    def get_extra_state(self):
        if isinstance(self.state, Exception):
            raise self.state
        return self.state


def test_what_a_killed_writer_left_is_removed_by_the_next(folder, path):
    training = Training(folder)
    left = path.parent / f".{path.name}.{'0' * 16}.unfinished"
    left.write_bytes(b"half")
    link = path.parent / f".{path.name}.{'1' * 16}.unfinished"
    link.symlink_to(path.parent / "elsewhere")
    of_other = path.parent / f".other.pt.{'0' * 16}.unfinished"
    of_other.write_bytes(b"half")
    # Reading changes nothing: the writer may live, and the folder may be read-only.
    before = path.parent.stat().st_mtime_ns
    assert gm.torch.load_checkpoint(path, **training.objects) is None
    assert left.exists()
    assert path.parent.stat().st_mtime_ns == before
    gm.torch.save_checkpoint(path, **training.objects)
    assert gm.torch.load_checkpoint(path, **training.objects) == {}
    assert set(os.listdir(path.parent)) == {path.name, of_other.name, link.name}


def test_writers_under_one_name_do_not_mix(folder, path, monkeypatch):
    first, second = Training(folder), Training(folder)
    save = torch.save

    def save_while_another_does(parts, file):
        if "kind" in parts:  # not what is tried in memory
            monkeypatch.setattr(torch, "save", save)
            save(parts, file)  # of which a part is written when the other one begins
            gm.torch.save_checkpoint(path, **second.objects, extra={"who": 2})
            assert gm.torch.load_checkpoint(path, **second.objects) == {"who": 2}
            assert len(os.listdir(path.parent)) == 2  # ours is locked, and stays
        else:
            save(parts, file)

    monkeypatch.setattr(torch, "save", save_while_another_does)
    gm.torch.save_checkpoint(path, **first.objects, extra={"who": 1})
    assert gm.torch.load_checkpoint(path, **first.objects) == {"who": 1}
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("is_removed_at_once", [False, True])
def test_a_file_that_is_taken_for_a_leftover_is_made_anew(
    folder, path, monkeypatch, is_removed_at_once
):
    training = Training(folder)
    flock, seen = fcntl.flock, []

    def flock_after_another(descriptor, mode):
        if not seen:  # another writer has locked the new file, and removes it now or a little later
            own = os.readlink(f"/proc/self/fd/{descriptor}")
            seen.append((own, os.open(own, os.O_RDWR)))
            flock(seen[0][1], fcntl.LOCK_EX)
            if is_removed_at_once:
                os.unlink(own)
                os.close(seen[0][1])
        elif len(seen) == 1:
            seen.append(None)
            if not is_removed_at_once:
                os.unlink(seen[0][0])
                os.close(seen[0][1])
        return flock(descriptor, mode)

    monkeypatch.setattr(fcntl, "flock", flock_after_another)
    gm.torch.save_checkpoint(path, **training.objects)
    assert len(seen) == 2
    assert os.listdir(path.parent) == [path.name]
    assert gm.torch.load_checkpoint(path, **training.objects) == {}


def test_without_locks_leftovers_stay(folder, path, monkeypatch):
    left = path.parent / f".{path.name}.{'0' * 16}.unfinished"
    left.write_bytes(b"half")

    def flock(*_):
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(fcntl, "flock", flock)
    gm.torch.save_checkpoint(path, **Training(folder).objects)
    assert set(os.listdir(path.parent)) == {path.name, left.name}


def optimizers():
    """Makers of all optimizers that need no more than parameters."""
    for name in ("SGD", "Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Adadelta", "Adagrad"):
        yield getattr(torch.optim, name)
    yield from (torch.optim.RMSprop, torch.optim.Rprop, torch.optim.ASGD)
    yield functools.partial(torch.optim.SGD, momentum=0.9)
    yield functools.partial(torch.optim.Adam, amsgrad=True)
    yield functools.partial(torch.optim.RMSprop, centered=True, momentum=0.9)


def test_optimizers_of_all_kinds_go_on_and_fit_only_themselves(folder, path):
    for make in optimizers():
        training, again = Training(folder), Training(folder)
        for each in (training, again):
            each.model.eval()  # without dropout: both draw from the same random numbers here
            each.optimizer = make(each.model.parameters(), lr=0.01)
            each.objects["optimizer"] = each.optimizer
        batch = next(iter(training.loader))
        training.step(batch)
        gm.torch.save_checkpoint(path, **training.objects)
        gm.torch.load_checkpoint(path, **again.objects)
        for _ in range(2):  # the second loss is after a step from what was loaded
            assert training.step(batch) == again.step(batch)
        if not isinstance(training.optimizer, torch.optim.Adam):
            kind = type(training.optimizer).__name__
            refuses_alone(folder, path, ValueError, f"the optimizer is {kind} in .* and Adam here")


def test_optimizers_that_do_not_fit_are_refused(folder, path):
    training = Training(folder)
    gm.torch.save_checkpoint(path, **training.objects)
    other = Training(folder)
    other.objects["optimizer"] = torch.optim.Adam(reversed(list(other.model.parameters())))
    with pytest.raises(ValueError, match=r"parameters of the shapes .*; make the optimizer as"):
        gm.torch.load_checkpoint(path, **other.objects)
    other = Training(folder)
    torch.optim.lr_scheduler.OneCycleLR(other.optimizer, 0.1, total_steps=9)
    with pytest.raises(ValueError, match=r"has no base_momentum, initial_lr, .* in its group 0"):
        gm.torch.load_checkpoint(path, **other.objects)
    # The other way, the schedule comes later.
    gm.torch.save_checkpoint(path, **other.objects)
    assert gm.torch.load_checkpoint(path, **training.objects) == {}
    other = Training(folder)
    other.model.double()
    with pytest.raises(ValueError, match=r"is \(3, 4\) of float32 in .* and \(3, 4\) of float64"):
        gm.torch.load_checkpoint(path, **other.objects)


FORGED = {
    "token": [5, None],
    "model": [5, [], {5: torch.zeros(1)}],
    "optimizer": [
        {},
        [],
        {"state": [], "param_groups": []},
        {"state": {}, "param_groups": [5]},
        {"state": {}, "param_groups": [{"params": [[0], 1]}]},
        {"state": {}, "param_groups": [{"params": [0, 0]}]},
        {"state": {"a": {}}, "param_groups": [{"params": [0, 1]}]},
        {"state": {0: 5}, "param_groups": [{"params": [0, 1]}]},
    ],
    "optimizer_facts": [5, {}, {"kind": 5, "shapes": []}, {"kind": "Adam", "shapes": 5}],
    "loader": [5, [], {5: 5}],
    "data": [5, {"graph": 5}, {5: "a"}],
    "random": [
        5,
        [],
        [5],
        [{}],
        [{"cpu": 5}],
        [{"cpu": torch.zeros(3, dtype=torch.uint8)}],
        [{"cpu": torch.zeros(5056)}],
        [{"cpu": torch.full((5056,), 255, dtype=torch.uint8)}],
        [{"cpu": torch.get_rng_state(), "other": torch.zeros(1, dtype=torch.uint8)}],
    ],
    "extra": [5, None],
}


@pytest.mark.parametrize("part", FORGED)
def test_forged_parts_are_refused_by_name(folder, path, part):
    training = Training(folder)
    gm.torch.save_checkpoint(path, **training.objects)
    saved = torch.load(path, weights_only=True)
    random = torch.get_rng_state()
    without = {name: value for name, value in saved.items() if name != part}
    for forged in [without, *({**saved, part: value} for value in FORGED[part])]:
        torch.save(forged, path)
        with pytest.raises(FormatError, match=f"its part '{part}' is not there") as raised:
            gm.torch.load_checkpoint(path, **training.objects)
        assert raised.value.path == str(path)
    assert torch.equal(torch.get_rng_state(), random)


def test_forged_insides_are_refused(folder, path):
    training = Training(folder)
    training.step(next(iter(training.loader)))
    gm.torch.save_checkpoint(path, **training.objects)
    saved = torch.load(path, weights_only=True)
    saved["optimizer"]["state"][0]["exp_avg"] = torch.zeros(1)
    torch.save(saved, path)
    refuses_alone(folder, path, FormatError, r"exp_avg of \(1,\) of float32 for a .* of \(3, 4\)")
    saved = torch.load(path, weights_only=True)
    saved["loader"]["batch"] = [1]
    torch.save(saved, path)
    refuses_alone(folder, path, FormatError, r"its part 'loader' .*state\['batch'\]")
    saved["loader"] = {}
    torch.save(saved, path)
    refuses_alone(folder, path, ValueError, "the state has no 'key'")


def test_a_bad_copy_of_one_rank_is_told_to_all(trainings, path):
    save_together(trainings, path)
    bad = path.with_name("bad.pt")
    torch.save({**torch.load(path, weights_only=True), "model": []}, bad)

    def load(group):
        place = bad if group.rank == 1 else path
        return gm.torch.load_checkpoint(place, **trainings[group.rank].objects, ranks=group)

    one, other = Meeting(2).run(load)
    assert isinstance(one, RankError)
    assert one.rank == 1
    assert "its part 'model'" in str(one)
    assert isinstance(other, FormatError)


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
