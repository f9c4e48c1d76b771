"""Lightning's `Trainer` over PyG's module of a mounted dataset, and over graphmount's loaders."""

from __future__ import annotations

import inspect
from types import SimpleNamespace

import pytest
from pyg_datasets import NUM_NODES, check_rows

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
lightning = pytest.importorskip("pytorch_lightning", reason="pytorch_lightning is not installed")
import torch_geometric.data.lightning as pygs  # noqa: E402
from pyg_data import NUM_NODES as PLAIN_NODES  # noqa: E402
from pyg_data import make_data  # noqa: E402
from torch_geometric.nn import SAGEConv  # noqa: E402

import graphmount as gm  # noqa: E402
import graphmount.pyg  # noqa: E402
import graphmount.torch  # noqa: E402
from graphmount.pyg import (  # noqa: E402
    LightningLinkData,
    LightningNodeData,
    LinkNeighborLoader,
    NeighborLoader,
    NeighborSampler,
)

# Lightning warns of few batches and workers, and torch of what Lightning calls.
pytestmark = pytest.mark.filterwarnings("ignore")


class Model(lightning.LightningModule):
    """Counts what it is given; the loss is of the seeds, or of links if batches have such."""

    def __init__(self):
        super().__init__()
        self.layer = SAGEConv(5, 3)
        self.seen, self.validated = [], 0

    def loss_of(self, batch):
        is_data = hasattr(batch, "x")
        x = batch.x if is_data else batch.features["x"]
        out = self.layer(x, batch.edge_index)
        if getattr(batch, "edge_label_index", None) is not None:
            src, dst = batch.edge_label_index
            scores = (out[src] * out[dst]).sum(dim=1)
            return torch.nn.functional.binary_cross_entropy_with_logits(scores, batch.edge_label)
        labels = batch.y[: batch.batch_size] if is_data else batch.labels
        return torch.nn.functional.cross_entropy(out[: batch.batch_size], labels)

    def training_step(self, batch, _):
        if hasattr(batch, "n_id"):
            check_rows(batch)
        ids = batch.input_id if hasattr(batch, "input_id") else batch.input_ids
        self.seen += ids.tolist()
        return self.loss_of(batch)

    def validation_step(self, batch, _):
        self.validated += batch.batch_size
        self.log("val_loss", self.loss_of(batch), batch_size=batch.batch_size)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


class PlainModel(Model):
    """The same for batches of a `Data` that the tests of this file make."""

    def __init__(self, num_features):
        super().__init__()
        self.layer = SAGEConv(num_features, 3)

    def training_step(self, batch, _):
        self.seen += batch.input_id.tolist()
        return self.loss_of(batch)


def fit(folder, epochs=2, **options):
    return fitted(Model(), folder, epochs, **options)


def fitted(model, folder, epochs=2, **options):
    before = [parameter.clone() for parameter in model.parameters()]
    trainer = lightning.Trainer(
        max_epochs=epochs,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        default_root_dir=folder,
    )
    trainer.fit(model, **options)
    changes = [not torch.equal(*pair) for pair in zip(before, model.parameters(), strict=True)]
    assert any(changes), "nothing was learnt"
    return model


@pytest.mark.parametrize("num_workers", [0, 2])
def test_nodes_of_pygs_module(dataset, tmp_path, num_workers):
    module = pygs.LightningNodeData(
        dataset.to_pyg(),
        input_train_nodes=torch.arange(NUM_NODES),
        input_val_nodes=torch.arange(10),
        node_sampler=NeighborSampler(dataset, [3]),
        batch_size=8,
        num_workers=num_workers,
        pin_memory=False,
    )
    model = fit(tmp_path, datamodule=module)
    assert sorted(model.seen) == sorted([*range(NUM_NODES)] * 2)
    assert model.validated == 20


def test_links_of_pygs_module(dataset, tmp_path):
    links = torch.stack([torch.arange(30), torch.arange(30).flip(0)])
    module = pygs.LightningLinkData(
        dataset.to_pyg(),
        input_train_edges=(None, links),  # the type of edges, of which there is one
        link_sampler=NeighborSampler(dataset, [3]),
        neg_sampling_ratio=1.0,
        batch_size=8,
        pin_memory=False,
    )
    assert sorted(fit(tmp_path, epochs=1, datamodule=module).seen) == list(range(30))


@pytest.mark.parametrize("package", [graphmount.pyg, graphmount.torch])
def test_our_loaders_of_nodes(dataset, tmp_path, package):
    options = {"batch_size": 8, "memory": "1MiB"}
    train = package.NeighborLoader(dataset, [3], shuffle=True, seed=1, **options)
    valid = package.NeighborLoader(dataset, [-1], input_nodes="valid", **options)
    model = fit(tmp_path, train_dataloaders=train, val_dataloaders=valid)
    assert sorted(model.seen) == sorted([*range(NUM_NODES)] * 2)
    assert model.seen[:NUM_NODES] != model.seen[NUM_NODES:], "epochs have orders of their own"
    assert model.validated == 4


@pytest.mark.parametrize("package", [graphmount.pyg, graphmount.torch])
def test_our_loaders_of_links(dataset, tmp_path, package):
    train = package.LinkNeighborLoader(dataset, [3], neg_sampling="binary", batch_size=32)
    model = fit(tmp_path, epochs=1, train_dataloaders=train)
    assert sorted(model.seen) == list(range(dataset.num_edges))


class TestOurModules:
    """PyG's constructors, over graphmount's loaders."""

    def test_constructors_are_those_of_pyg(self):
        for ours, theirs in (
            (LightningNodeData, pygs.LightningNodeData),
            (LightningLinkData, pygs.LightningLinkData),
        ):
            expected = list(inspect.signature(theirs).parameters.values())
            found = list(inspect.signature(ours).parameters.values())
            assert [p.name for p in found][:-1] == [p.name for p in expected][:-1]
            assert [p.default for p in found] == [p.default for p in expected]
            assert issubclass(ours, lightning.LightningDataModule)

    @pytest.mark.parametrize("kind", ["Data", "Dataset", "path"])
    def test_nodes(self, kind, tmp_path):
        data = make_data(
            y=torch.arange(PLAIN_NODES) % 3,
            train_mask=torch.arange(PLAIN_NODES) % 2 == 0,
            valid_mask=torch.arange(PLAIN_NODES) % 10 == 1,
            test_idx=torch.tensor([3, 5]),
        )
        data.x = torch.rand(PLAIN_NODES, 4)
        given = data
        if kind != "Data":
            gm.from_pyg(data, tmp_path / "ds", exclude=["test_idx"])
            given = str(tmp_path / "ds") if kind == "path" else gm.Dataset(tmp_path / "ds")
        options = {"num_neighbors": [3], "batch_size": 8, "eval_loader_kwargs": {"batch_size": 4}}
        module = LightningNodeData(given, **options)
        loader = module.train_dataloader()
        assert type(loader) is NeighborLoader
        assert loader.batch_size == 8
        assert module.val_dataloader().batch_size == 4
        if kind == "Data":
            assert next(iter(module.test_dataloader())).n_id[:2].tolist() == [3, 5]
        else:
            assert module.test_dataloader is None
        everything = sum(batch.batch_size for batch in module.predict_dataloader())
        assert everything == PLAIN_NODES, "PyG predicts all nodes as well"
        model = PlainModel(data.num_features)
        fitted(model, tmp_path, datamodule=module)
        count = int(data.train_mask.sum())
        assert len(model.seen) == 2 * count
        assert model.seen[:count] != model.seen[count:], "epochs have orders of their own"
        assert model.validated == 2 * int(data.valid_mask.sum())
        if kind == "Data":  # the places of the mask, which are ids
            assert sorted(model.seen[:count]) == data.train_mask.nonzero().view(-1).tolist()

    def test_links(self, dataset, tmp_path):
        links = torch.stack([torch.arange(30), torch.arange(30).flip(0)])
        module = LightningLinkData(
            dataset,
            input_train_edges=(None, links),
            input_val_edges=links[:, :4],
            input_val_labels=torch.ones(4),
            ids="external",
            num_neighbors=[3],
            neg_sampling_ratio=1.0,
            eval_loader_kwargs={"neg_sampling_ratio": 0.0},
            batch_size=8,
        )
        assert type(module.train_dataloader()) is LinkNeighborLoader
        assert module.test_dataloader is None
        assert len(module.predict_dataloader()) == -(-dataset.num_edges // 8)
        assert next(iter(module.val_dataloader())).edge_label.tolist() == [1] * 4
        no_validation = LightningLinkData(
            dataset, links, ids="external", num_neighbors=[3], neg_sampling="binary", batch_size=8
        )
        assert sorted(fit(tmp_path, epochs=1, datamodule=no_validation).seen) == list(range(30))

    def test_what_is_taken_and_refused(self, dataset):
        module = LightningNodeData(dataset, num_neighbors=[2], seed=4)
        assert module.train_dataloader().batch_size == 1
        assert "num_neighbors=[2]" in repr(module)
        with pytest.warns(UserWarning, match="num_workers, persistent_workers: without effect"):
            LightningNodeData(dataset, num_neighbors=[2], num_workers=4, persistent_workers=True)
        with pytest.warns(UserWarning, match="shuffle=True: without effect, as in PyG"):
            LightningNodeData(dataset, num_neighbors=[2], shuffle=True)
        with pytest.raises(ValueError, match="loader='full': this module has 'neighbor' only"):
            LightningNodeData(dataset, loader="full", num_neighbors=[2])
        sampler = NeighborSampler(dataset, [2])
        with pytest.raises(ValueError, match="node_sampler: the loaders of this module sample by"):
            LightningNodeData(dataset, node_sampler=sampler)
        with pytest.raises(ValueError, match="link_sampler: the loaders"):
            LightningLinkData(dataset, link_sampler=sampler)
        with pytest.raises(TypeError, match="num_neighbors= is missing"):
            LightningNodeData(dataset)

    def test_workers_are_named_once(self, dataset, recwarn):
        module = LightningNodeData(dataset, num_neighbors=[2], num_workers=4)
        module.train_dataloader()
        module.predict_dataloader()
        assert sum("without effect" in str(warning.message) for warning in recwarn) == 1

    def test_without_lightning(self, dataset, monkeypatch):
        monkeypatch.setattr("graphmount.pyg.lightning.LightningDataModule", None)
        with pytest.raises(
            ImportError, match="needs Lightning; install it with: pip install pytor"
        ):
            LightningNodeData(dataset, num_neighbors=[2])


class Log(lightning.loggers.logger.Logger):
    """Keeps what it is given."""

    name, version = "log", 0

    def __init__(self):
        super().__init__()
        self.entries = []

    def log_metrics(self, metrics, step=None):
        self.entries.append((step, metrics))

    def log_hyperparams(self, *_args, **_options):
        pass


def fit_logged(folder, callback, loaders):
    log = Log()
    trainer = lightning.Trainer(
        max_epochs=2,
        accelerator="cpu",
        logger=log,
        callbacks=[callback],
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=folder,
    )
    trainer.fit(Model(), train_dataloaders=loaders)
    return [(step, found) for step, found in log.entries if any("loader" in name for name in found)]


@pytest.mark.parametrize("package", [graphmount.pyg, graphmount.torch])
def test_a_callback_logs_what_the_loader_does(dataset, tmp_path, package):
    from graphmount.torch.lightning import StatsLogger

    train = package.NeighborLoader(dataset, [3], batch_size=8, memory="1MiB", seed=1)
    entries = fit_logged(tmp_path, StatsLogger(), train)
    assert [step for step, _ in entries] == [len(train), 2 * len(train)]
    first, second = (found["loader/epoch"] for _, found in entries)
    assert second == first + 1
    for _, found in entries:
        assert found["loader/batches"] == len(train)
        assert found["loader/x/hit_rate"] == 1
        assert found["loader/budget_bytes"] == 1 << 20
        assert all(type(value) is float for value in found.values())


def test_a_callback_logs_every_few_steps(dataset, tmp_path):
    from graphmount.torch.lightning import StatsLogger

    train = graphmount.pyg.NeighborLoader(dataset, [3], batch_size=8)
    entries = fit_logged(tmp_path, StatsLogger(every_n_steps=2, prefix="my/loader"), train)
    assert len(entries) == 2 * (len(train) // 2) + 2
    assert "my/loader/batches_per_second" in entries[0][1]


def test_a_callback_finds_loaders_in_what_it_is_given():
    from graphmount.torch.lightning import StatsLogger, _loaders_in

    assert repr(StatsLogger()) == "StatsLogger(every_n_steps=None, prefix='loader')"
    for wrong in (0, 1.5, "2"):
        with pytest.raises((TypeError, ValueError), match="every_n_steps"):
            StatsLogger(every_n_steps=wrong)
    assert _loaders_in(torch.utils.data.DataLoader([1, 2])) == []
    assert _loaders_in(None) == []


def test_a_callback_finds_several(dataset):
    from graphmount.torch.lightning import StatsLogger, _loaders_in

    loader = graphmount.pyg.NeighborLoader(dataset, [3], batch_size=8)
    others = {"b": [graphmount.torch.NeighborLoader(dataset, [3])], "c": [1, 2]}
    assert _loaders_in([loader, others]) == [loader, others["b"][0]]

    trainer = SimpleNamespace(
        is_global_zero=True, global_step=5, train_dataloader=[loader, others], loggers=[Log()]
    )
    StatsLogger().on_train_epoch_end(trainer, None)
    names = {name for _, found in trainer.loggers[0].entries for name in found}
    assert {"loader/0/batches", "loader/1/batches"} <= names
    trainer.is_global_zero, trainer.loggers = False, [Log()]
    StatsLogger().on_train_epoch_end(trainer, None)
    assert trainer.loggers[0].entries == []
