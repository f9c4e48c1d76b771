"""Lightning's `Trainer` over PyG's module of a mounted dataset, and over graphmount's loaders."""

from __future__ import annotations

import pytest
from pyg_datasets import NUM_NODES, check_rows

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
lightning = pytest.importorskip("pytorch_lightning", reason="pytorch_lightning is not installed")
from torch_geometric.data.lightning import LightningLinkData, LightningNodeData  # noqa: E402
from torch_geometric.nn import SAGEConv  # noqa: E402

import graphmount.pyg  # noqa: E402
import graphmount.torch  # noqa: E402
from graphmount.pyg import NeighborSampler  # noqa: E402

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


def fit(folder, epochs=2, **options):
    model = Model()
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
    module = LightningNodeData(
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
    module = LightningLinkData(
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
