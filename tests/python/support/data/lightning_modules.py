"""Modules of Lightning after PyG's example: data with a loader for each mask, and GraphSAGE."""

from __future__ import annotations

import warnings

import torch
from community_data import NUM_CLASSES, NUM_FEATURES, community_data
from pytorch_lightning import LightningDataModule, LightningModule, Trainer
from torch_geometric.data.lightning import LightningNodeData
from torch_geometric.nn import GraphSAGE


class Communities(LightningDataModule):
    """Batches of `community_data`, by loaders of a package that has a `NeighborLoader`."""

    def __init__(self, loaders, **options):
        super().__init__()
        self.data, self._loaders, self._options = community_data(), loaders, options

    def _loader(self, mask, **options):
        return self._loaders.NeighborLoader(
            self.data, input_nodes=mask, num_neighbors=[10, 5], **self._options, **options
        )

    def train_dataloader(self):
        return self._loader(self.data.train_mask, shuffle=True)

    def val_dataloader(self):
        return self._loader(self.data.val_mask)

    def test_dataloader(self):
        return self._loader(self.data.test_mask)


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.gnn = GraphSAGE(NUM_FEATURES, 32, num_layers=2, out_channels=NUM_CLASSES)

    def _scores(self, batch):
        return self.gnn(batch.x, batch.edge_index)[: batch.batch_size]

    def _log_share(self, batch, name):
        size = batch.batch_size
        right = (self._scores(batch).argmax(dim=1) == batch.y[:size]).float().mean()
        self.log(name, right, batch_size=size, on_step=False, on_epoch=True)

    def training_step(self, batch):
        labels = batch.y[: batch.batch_size]
        return torch.nn.functional.cross_entropy(self._scores(batch), labels)

    def validation_step(self, batch):
        self._log_share(batch, "val_acc")

    def test_step(self, batch):
        self._log_share(batch, "test_acc")

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.01)


def pygs_module(sampler_of):
    """PyG's own module of data, with a sampler that is made for the `Data`."""
    data = community_data()
    return LightningNodeData(
        data,
        input_train_nodes=data.train_mask,
        input_val_nodes=data.val_mask,
        input_test_nodes=data.test_mask,
        node_sampler=sampler_of(data, [10, 5]),
        batch_size=128,
        pin_memory=False,
    )


def share_right_of(module):
    """Trains on a module of data, and tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few workers, and of what Lightning calls
        model = Model()
        trainer = Trainer(
            max_epochs=4,
            accelerator="cpu",
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
        )
        trainer.fit(model, datamodule=module)
        (scores,) = trainer.test(model, datamodule=module, verbose=False)
    return scores["test_acc"]
