"""Losses by name, as detectors return them; the epoch's sum keeps the graphs."""
import torch
from torch import nn


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256), nn.ReLU())
        self.cls, self.box = nn.Linear(256, 91), nn.Linear(256, 4)

    def forward(self, x, targets):
        h = self.body(x)
        return {"loss_classifier": nn.functional.cross_entropy(self.cls(h), targets["labels"]),
                "loss_box": nn.functional.smooth_l1_loss(self.box(h), targets["boxes"])}


def evaluate_losses(model, count):
    totals = {}
    for _ in range(count):
        targets = {"labels": torch.randint(91, (1024,), device="cuda"), "boxes": torch.rand(1024, 4, device="cuda")}
        losses = model(torch.randn(1024, 256, device="cuda"), targets)
        for k, v in losses.items():
            totals[k] = totals.get(k, 0) + v
    return {k: float(v) / count for k, v in totals.items()}


model = Detector().cuda().train()
print(evaluate_losses(model, 1000))
