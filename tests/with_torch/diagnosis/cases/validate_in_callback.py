import torch
from torch import nn


class Callback:
    def on_epoch_end(self, trainer):
        pass


class ValidationCallback(Callback):
    def __init__(self, batches, size):
        self.batches, self.size = batches, size

    def on_epoch_end(self, trainer):
        was_training = trainer.model.training
        trainer.model.eval()
        losses = [trainer.compute_loss(batch).item() for batch in trainer.data(self.batches, self.size)]
        trainer.model.train(was_training)
        print(f"val_loss {sum(losses) / len(losses):.4f}")


class Trainer:
    def __init__(self, model, callbacks):
        self.model = model.cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters())
        self.callbacks = callbacks

    def data(self, count, size):
        return (torch.randn(size, 256, device="cuda") for _ in range(count))

    def compute_loss(self, x):
        return (self.model(x) - x).square().mean()

    def fit(self, epochs):
        for _ in range(epochs):
            for x in self.data(8, 512):
                self.optimizer.zero_grad()
                self.compute_loss(x).backward()
                self.optimizer.step()
            for callback in self.callbacks:
                callback.on_epoch_end(self)


Trainer(nn.Sequential(*[nn.Sequential(nn.Linear(256, 256), nn.GELU()) for _ in range(12)]),
        [ValidationCallback(6, 8192)]).fit(3)
