"""Modules of Lightning after PyG's example: data with a loader for each mask, and GraphSAGE."""

from __future__ import annotations

import torch
from community_data import NUM_CLASSES, NUM_FEATURES, community_data
from pytorch_lightning import LightningDataModule, LightningModule
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
