import torch
import torch.nn as nn


def make():
    return nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1024)).cuda()


models = [make() for _ in range(5)]
optimizers = [torch.optim.Adam(m.parameters()) for m in models]
for step in range(20):
    x = torch.randn(128, 1024, device="cuda")
    for model, optimizer in zip(models, optimizers):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
