"""Uncertainty of a regressor by Monte Carlo dropout."""
import torch
from torch import nn


class Regressor(nn.Module):
    def __init__(self, width=1024, p=0.2):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Dropout(p), nn.Linear(width, width),
                                  nn.ReLU(), nn.Dropout(p))
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        return self.head(self.body(x))


def predict_with_uncertainty(model, x, samples=200):
    model.train()  # dropout stays on
    preds = torch.stack([model(x) for _ in range(samples)])
    return preds.mean(0), preds.std(0)


def main():
    model = Regressor().cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(20):
        x = torch.randn(512, 64, device="cuda")
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    mean, std = predict_with_uncertainty(model, torch.randn(2048, 64, device="cuda"))
    print(mean.shape, std.shape)


main()
