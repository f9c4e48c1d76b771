"""Modules of data for Lightning over many types of nodes: datasets, and `HeteroData` objects."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
lightning = pytest.importorskip("pytorch_lightning", reason="pytorch_lightning is not installed")
from torch_geometric.data import HeteroData  # noqa: E402
from torch_geometric.nn import SAGEConv, to_hetero  # noqa: E402

import graphmount as gm  # noqa: E402
from graphmount.pyg import LightningLinkData, LightningNodeData  # noqa: E402

# Lightning warns of few batches and workers, and torch of what Lightning calls.
pytestmark = pytest.mark.filterwarnings("ignore")

WRITES, REV_WRITES = ("author", "writes", "paper"), ("paper", "rev_writes", "author")
NUM_PAPERS, NUM_AUTHORS = 40, 15


@pytest.fixture(scope="module")
def data():
    generator = torch.Generator().manual_seed(1)
    data = HeteroData()
    data["paper"].x = torch.rand(NUM_PAPERS, 4, generator=generator)
    data["paper"].y = torch.arange(NUM_PAPERS) % 3
    data["paper"].train_mask = torch.arange(NUM_PAPERS) < 24
    data["paper"].val_mask = (torch.arange(NUM_PAPERS) >= 24) & (torch.arange(NUM_PAPERS) < 30)
    data["author"].x = torch.rand(NUM_AUTHORS, 5, generator=generator)
    ends = torch.stack(
        [
            torch.randint(0, NUM_AUTHORS, (150,), generator=generator),
            torch.randint(0, NUM_PAPERS, (150,), generator=generator),
        ]
    )
    data[WRITES].edge_index, data[REV_WRITES].edge_index = ends, ends.flip(0)
    return data


@pytest.fixture(scope="module")
def folder(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("typed") / "d"
    gm.from_pyg(data, path)
    return path


class Model(lightning.LightningModule):
    """Counts the papers or links that it is given."""

    def __init__(self, metadata):
        super().__init__()

        class Layer(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = SAGEConv((-1, -1), 3)

            def forward(self, x, edge_index):
                return self.conv(x, edge_index)

        self.layer = to_hetero(Layer(), metadata)
        self.seen, self.validated = [], []

    def step(self, batch, seen):
        assert isinstance(batch, HeteroData)
        out = self.layer(batch.x_dict, batch.edge_index_dict)
        if "edge_label_index" in batch[WRITES]:
            seen += batch[WRITES].input_id.tolist()
            row, col = batch[WRITES].edge_label_index
            scores = (out["author"][row] * out["paper"][col]).sum(dim=1)
            labels = batch[WRITES].edge_label.float()
            return torch.nn.functional.binary_cross_entropy_with_logits(scores, labels)
        papers = batch["paper"]
        seen += papers.n_id[: papers.batch_size].tolist()
        return torch.nn.functional.cross_entropy(
            out["paper"][: papers.batch_size], papers.y[: papers.batch_size]
        )

    def training_step(self, batch, _):
        return self.step(batch, self.seen)

    def validation_step(self, batch, _):
        self.step(batch, self.validated)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


def fitted(data, module, tmp_path):
    model = Model(data.metadata())
    model.layer(data.x_dict, data.edge_index_dict)  # layers find out the sizes of rows
    trainer = lightning.Trainer(
        default_root_dir=tmp_path,
        max_epochs=1,
        accelerator="cpu",
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        enable_checkpointing=False,
        num_sanity_val_steps=0,
    )
    trainer.fit(model, datamodule=module)
    return model


def module_of(kind, data, folder, tmp_path, **options):
    """The module of a `HeteroData`, a path, or a dataset."""
    if kind == "HeteroData":
        return LightningNodeData(data, cache=tmp_path / "cache", progress=False, **options)
    return LightningNodeData(folder if kind == "path" else gm.Dataset(folder), **options)


@pytest.mark.parametrize("kind", ["HeteroData", "path", "dataset"])
def test_usual_nodes_are_those_of_the_type_that_has_them(kind, data, folder, tmp_path):
    module = module_of(kind, data, folder, tmp_path, num_neighbors=[3], batch_size=8)
    model = fitted(data, module, tmp_path)
    ids = np.asarray(model.seen), np.asarray(model.validated)
    if kind != "HeteroData":  # batches have ids of the dataset
        papers = gm.Dataset(folder).nodes["paper"]
        ids = tuple(papers.to_external(papers.as_internal(each)) for each in ids)
    assert sorted(ids[0]) == list(range(24))
    assert sorted(ids[1]) == list(range(24, 30))
    assert module.test_dataloader is None
    predicted = list(module.predict_dataloader())  # all of the type that is trained on
    assert sum(batch["paper"].batch_size for batch in predicted) == NUM_PAPERS


def test_nodes_of_other_types_by_name(folder):
    module = LightningNodeData(
        folder,
        input_train_nodes="author",
        input_val_nodes=("paper", "val"),
        input_test_nodes={"author": [0, 1]},
        num_neighbors={WRITES: [2], REV_WRITES: [3]},
        batch_size=5,
        ids="external",
    )
    assert len(module.train_dataloader()) == NUM_AUTHORS // 5
    assert next(iter(module.val_dataloader()))["paper"].batch_size == 5
    assert next(iter(module.test_dataloader()))["author"].batch_size == 2
    assert len(module.predict_dataloader()) == NUM_AUTHORS // 5
    assert "TypedDataset" in repr(module)


@pytest.mark.parametrize("is_object", [True, False])
def test_links_of_a_relation(is_object, data, folder, tmp_path):
    made = {"cache": tmp_path / "cache", "progress": False} if is_object else {}
    links = data[WRITES].edge_index
    module = LightningLinkData(
        data if is_object else folder,
        input_train_edges=WRITES,
        input_val_edges=(WRITES, links[:, :10]),
        num_neighbors=[3],
        neg_sampling="binary",
        batch_size=30,
        **({} if is_object else {"ids": "external"}),
        **made,
    )
    model = fitted(data, module, tmp_path)
    assert sorted(model.seen) == list(range(150))
    assert sorted(model.validated) == list(range(10))


def test_refusals(data, folder, tmp_path):
    both = data.clone()
    both["author"].train_mask = torch.ones(NUM_AUTHORS, dtype=torch.bool)
    message = r"nodes of 'paper', 'author' have 'train'; say which .* input_train_nodes=\('paper'"
    with pytest.raises(ValueError, match=message):
        LightningNodeData(both, num_neighbors=[2])
    none = data.clone()
    del none["paper"].train_mask
    module = LightningNodeData(none, num_neighbors=[2], cache=tmp_path, progress=False)
    with pytest.raises(TypeError, match="input_nodes must be a node type and its nodes"):
        module.train_dataloader()
    links = LightningLinkData(folder, num_neighbors=[2])
    with pytest.raises((TypeError, ValueError), match="relation"):
        links.train_dataloader()
