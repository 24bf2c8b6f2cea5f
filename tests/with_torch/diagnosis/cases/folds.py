import torch
from torch import nn


def make():
    model = nn.Sequential(nn.Linear(1024, 2048), nn.ReLU(), nn.Linear(2048, 1024)).cuda()
    return model, torch.optim.Adam(model.parameters())


def train_fold(k):
    model, optimizer = make()
    for _ in range(10):
        x = torch.randn(128, 1024, device="cuda")
        loss = (model(x) - x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return {"fold": k, "model": model, "optimizer": optimizer, "score": loss.item()}


results = {}
for seed in range(10):
    for k in range(5):
        results[seed, k] = train_fold(k)
print(max(results.values(), key=lambda r: r["score"])["fold"])
