import os
import tempfile

import torch
from torch import nn


class MLP(nn.Module):
    def __init__(self, width=512, depth=12):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def forward(self, x):
        for block in self.blocks:
            x = x + torch.relu(block(x))
        return x


def pretrained(folder):
    path = os.path.join(folder, "mlp.pt")
    torch.save({"net": MLP().state_dict(), "epoch": 7}, path)
    return path


def build(path, device):
    saved = torch.load(path, weights_only=True)
    weights = {name: value.to(device) for name, value in saved["net"].items()}
    model = MLP().to(device)
    model.load_state_dict(weights)
    return model, weights


with tempfile.TemporaryDirectory() as folder:
    model, initial = build(pretrained(folder), "cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(6):
        loss = model(torch.randn(64, 512, device="cuda")).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
