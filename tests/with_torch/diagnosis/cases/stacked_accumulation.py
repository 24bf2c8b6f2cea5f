import torch
from dataclasses import dataclass
from torch import nn


@dataclass
class Config:
    micro_batch: int = 64
    accumulate: int = 256
    steps: int = 2
    width: int = 1024


def micro_batches(config):
    for _ in range(config.accumulate):
        yield torch.randn(config.micro_batch, config.width, device="cuda")


def compute_losses(model, config):
    losses = []
    for batch in micro_batches(config):
        out = model(batch)
        losses.append(nn.functional.smooth_l1_loss(out, batch))
    return losses


def fit(config):
    model = nn.Sequential(*[nn.Sequential(nn.Linear(config.width, config.width), nn.GELU()) for _ in range(8)]).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(config.steps):
        losses = compute_losses(model, config)
        loss = torch.stack(losses).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


fit(Config())
