"""A LightningModule, trained and validated in mixed precision by Lightning's Trainer."""
import tempfile

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Autoencoder(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4096, 2048), nn.ReLU(), nn.Linear(2048, 4096))

    def loss(self, batch):
        (x,) = batch
        return nn.functional.mse_loss(self.net(x), x)

    def training_step(self, batch, _):
        loss = self.loss(batch)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, _):
        self.log("val_loss", self.loss(batch), sync_dist=True)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def main():
    rows = DataLoader(TensorDataset(torch.randn(512, 4096)), batch_size=64)
    model = Autoencoder()
    with tempfile.TemporaryDirectory() as folder:
        trainer = L.Trainer(max_epochs=2, accelerator="gpu", devices=1, precision="16-mixed",
                            default_root_dir=folder, logger=False, enable_progress_bar=False,
                            gradient_clip_val=1.0)
        trainer.fit(model, rows, rows)
        assert trainer.global_step == 16
        assert "val_loss" in trainer.callback_metrics
        assert trainer.checkpoint_callback.best_model_path
    weights = sum(p.numel() * p.element_size() for p in model.parameters())
    assert torch.cuda.max_memory_allocated() > 4 * weights
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())


if __name__ == "__main__":
    main()
