"""Checkpoints in Ray's storage: whole or not at all, under names that tell where a training is.

Ray itself is played here: what was reported is a list.
"""

from __future__ import annotations

import errno
import os
import resource
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("ray", reason="Ray is not installed")
import ray.train  # noqa: E402
import ray_program  # noqa: E402
from pyarrow import fs  # noqa: E402
from ray.train import ScalingConfig  # noqa: E402
from ray.train.torch import TorchTrainer  # noqa: E402
from ray.train.v2._internal.execution import train_fn_utils  # noqa: E402

import graphmount as gm  # noqa: E402
import graphmount.ray  # noqa: E402
import graphmount.torch  # noqa: E402
from graphmount.errors import DatasetChangedError, FormatError, RankError  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # those of Ray are its own


@pytest.fixture
def objects(ray_data):
    return ray_program.make_objects(gm.torch.RankGroup(), ray_data)


@pytest.fixture
def no_context(monkeypatch):
    monkeypatch.setattr(train_fn_utils, "_train_fn_utils", None)


class Run:
    """A run with its storage, as much of Ray as checkpoints see of it."""

    def __init__(self, monkeypatch, system, folder):
        self.reported = []
        self.folder = folder
        storage = SimpleNamespace(storage_filesystem=system, experiment_fs_path="run")
        if isinstance(system, fs.LocalFileSystem):
            storage.experiment_fs_path = str(folder / "run")
        (folder / "run").mkdir()
        context = SimpleNamespace(get_storage=lambda: storage)
        monkeypatch.setattr(ray.train, "get_context", lambda: context)
        monkeypatch.setattr(ray.train, "report", self.report)
        monkeypatch.setattr(ray.train, "get_checkpoint", self.last)
        monkeypatch.setattr(ray.train, "get_all_reported_checkpoints", self.all)

    def report(self, metrics, checkpoint, checkpoint_upload_mode):
        assert checkpoint_upload_mode == ray.train.CheckpointUploadMode.NO_UPLOAD
        self.reported.append(SimpleNamespace(metrics=metrics, checkpoint=checkpoint))

    def last(self):
        return self.reported[-1].checkpoint if self.reported else None

    def all(self, consistency_mode):
        assert consistency_mode == ray.train.CheckpointConsistencyMode.COMMITTED
        return self.reported

    def files(self):
        """All files in the storage."""
        return sorted(
            str(path.relative_to(self.folder / "run"))
            for path in self.folder.rglob("*")
            if path.is_file()
        )


@pytest.fixture(params=["folder", "other storage"])
def run(monkeypatch, tmp_path, request):
    local = fs.LocalFileSystem()
    system = local if request.param == "folder" else fs.SubTreeFileSystem(str(tmp_path), local)
    return Run(monkeypatch, system, tmp_path)


def test_a_training_goes_on_from_what_was_reported(run, objects, ray_data):
    assert gm.ray.load_checkpoint(**objects) is None
    losses = []
    for batch in objects["loader"]:
        losses.append(ray_program.step(batch, **objects))
        if batch.number in (2, 5):
            gm.ray.save_checkpoint({"loss": losses[-1]}, **objects, extra={"losses": losses})
    names = ["checkpoint_000000_000000003", "checkpoint_000000_000000006"]
    assert run.files() == [f"{name}/graphmount.pt" for name in names]
    assert [each.metrics for each in run.reported] == [{"loss": losses[2]}, {"loss": losses[5]}]
    again = ray_program.make_objects(gm.torch.RankGroup(), ray_data)
    found = gm.ray.load_checkpoint(**again)["losses"]
    found += [ray_program.step(batch, **again) for batch in again["loader"]]
    assert found == losses


def test_names_are_used_again_unless_they_were_reported(run, objects):
    gm.ray.save_checkpoint({}, **objects, extra={"try": 1})
    run.reported.clear()  # as if it had been killed before it reported
    gm.ray.save_checkpoint({}, **objects, extra={"try": 2})
    assert run.files() == ["checkpoint_000000_000000000/graphmount.pt"]
    gm.ray.save_checkpoint({}, **objects, extra={"try": 3})  # at the same place
    gm.ray.save_checkpoint({}, **objects, extra={"try": 4})
    assert len(run.files()) == len({each.checkpoint.path for each in run.reported}) == 3
    assert gm.ray.load_checkpoint(**objects) == {"try": 4}


def test_a_full_disk_leaves_the_last_checkpoint(run, objects):
    gm.ray.save_checkpoint({}, **objects, extra={"try": 1})
    for batch in objects["loader"]:
        ray_program.step(batch, **objects)
        break
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match=r"graphmount\.pt") as raised:
            gm.ray.save_checkpoint({}, **objects)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert raised.value.errno == errno.EFBIG
    assert len(run.reported) == 1
    assert run.files() == ["checkpoint_000000_000000000/graphmount.pt"]
    assert gm.ray.load_checkpoint(**objects) == {"try": 1}


def test_what_others_reported_is_refused(run, objects, tmp_path):
    gm.ray.save_checkpoint({}, **objects)
    file = tmp_path / "run" / run.files()[0]
    file.write_bytes(file.read_bytes()[:1000])
    with pytest.raises(FormatError, match="no checkpoint, or is damaged"):
        gm.ray.load_checkpoint(**objects)
    os.unlink(file)
    with pytest.raises(FormatError, match=r"there is no such file in the checkpoint that was"):
        gm.ray.load_checkpoint(**objects)


def test_another_dataset_is_refused_by_name(run, objects, tmp_path):
    gm.ray.save_checkpoint({}, **objects)
    assert len(run.reported) == 1
    other = tmp_path / "other"
    gm.compile_dataset(
        other,
        edges=([1, 2], [0, 0]),
        num_nodes=100,
        features={"x": torch.ones(100, 4)},
        labels=[0] * 100,
    )
    changed = ray_program.make_objects(gm.torch.RankGroup(), other)
    with pytest.raises(DatasetChangedError, match="features 'x'"):
        gm.ray.load_checkpoint(**changed)


def test_other_global_batches_are_refused(run, objects, ray_data):
    gm.ray.save_checkpoint({}, **objects)
    assert len(run.reported) == 1
    other = ray_program.make_objects(gm.torch.RankGroup(), ray_data, batch_size=5)
    with pytest.raises(ValueError, match=r"batch_size x world_size is 12 x 1 = 12 .* 5 x 1 = 5"):
        gm.ray.load_checkpoint(**other)


@pytest.mark.usefixtures("no_context")
def test_outside_of_a_training_function(objects):
    with pytest.raises(RankError, match=r"no training function of Ray Train.*TorchTrainer"):
        gm.ray.RankGroup().__enter__()
    with pytest.raises(RankError, match="no training function of Ray Train"):
        gm.ray.save_checkpoint({}, **objects)
    with pytest.raises(RankError, match="no training function of Ray Train"):
        gm.ray.load_checkpoint(**objects)
    with pytest.raises(TypeError, match="metrics must be a dict"):
        gm.ray.save_checkpoint(3, **objects)


@pytest.mark.usefixtures("no_context")
def test_in_the_process_of_the_caller(ray_data):
    def train():
        with gm.ray.RankGroup() as ranks:
            assert (ranks.rank, ranks.world_size, ranks.local_world_size) == (0, 1, 1)
            objects = ray_program.make_objects(ranks, ray_data)
            assert gm.ray.load_checkpoint(**objects) is None
            with pytest.raises(RankError, match=r"no checkpoints .* num_workers=0.*num_workers=1"):
                gm.ray.save_checkpoint({}, **objects)
        return 7

    trainer = TorchTrainer(train, scaling_config=ScalingConfig(num_workers=0))
    assert trainer.fit().return_value == 7
