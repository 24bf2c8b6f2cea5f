# Preference tuning with a reference model, that nobody needs on the GPU at the same time in half.
import copy

import torch
from torch import nn
from torch.nn import functional as F


class Policy(nn.Module):
    def __init__(self, d=768, n=8):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.GELU(),
                                                   nn.Linear(4 * d, d)) for _ in range(n)])

    def forward(self, x):
        for block in self.blocks:
            x = x + block(x)
        return x.mean((1, 2))


class PreferenceTrainer:
    def __init__(self, model):
        self.model = model
        self.initial = copy.deepcopy(model)
        self.optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)

    def step(self, chosen, rejected):
        margin = self.model(chosen) - self.model(rejected)
        loss = -F.logsigmoid(0.1 * margin).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


trainer = PreferenceTrainer(Policy().cuda())
for _ in range(8):
    trainer.step(torch.randn(4, 32, 768, device="cuda"), torch.randn(4, 32, 768, device="cuda"))
