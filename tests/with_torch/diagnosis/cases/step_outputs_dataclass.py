from __future__ import annotations

import dataclasses
import typing as t

import torch
from torch import nn


@dataclasses.dataclass(frozen=True)
class StepOutput:
    loss: float
    logits: torch.Tensor
    targets: torch.Tensor


class Loop:
    def __init__(self, net: nn.Module, lr: float = 1e-3):
        self.net = net.to("cuda")
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=lr)
        self.history: t.List[StepOutput] = []

    def train_step(self, x, y) -> StepOutput:
        logits = self.net(x)
        loss = nn.functional.cross_entropy(logits, y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return StepOutput(loss.item(), logits, y)

    def fit(self, steps: int) -> Loop:
        for _ in range(steps):
            x = torch.randn(128, 256, device="cuda")
            y = torch.randint(0, 4096, (128,), device="cuda")
            out = self.train_step(x, y)
            self.history += [out]
        return self

    def accuracy(self) -> float:
        hits = [(o.logits.argmax(-1) == o.targets).float().mean().item() for o in self.history]
        return sum(hits) / len(hits)


print(Loop(nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 4096))).fit(1500).accuracy())
