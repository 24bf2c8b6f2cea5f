import copy
import torch
from torch import nn
import torch.nn.functional as F


def batch(n):
    return torch.randn(n, 1, 12, 12, device="cuda"), torch.randint(0, 3, (n,), device="cuda")


def lr_find(model, optimizer, low, high, steps):
    weights = copy.deepcopy(model.state_dict())
    state = copy.deepcopy(optimizer.state_dict())
    factor = (high / low) ** (1 / (steps - 1))
    lr = low
    rates, losses = [], []
    average = 0.0
    for i in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = lr
        x, y = batch(10)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        average = 0.9 * average + 0.1 * loss.item()
        losses.append(average)
        rates.append(lr)
        lr *= factor
    model.load_state_dict(weights)
    optimizer.load_state_dict(state)
    return rates[losses.index(min(losses))]


model = nn.Sequential(nn.Conv2d(1, 14, 3), nn.BatchNorm2d(14), nn.ELU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(14 * 25, 3)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
x, y = batch(10)
F.cross_entropy(model(x), y).backward()
optimizer.step()
mark("warm")
best = lr_find(model, optimizer, 1e-5, 1e-1, 4)
mark("found")
for group in optimizer.param_groups:
    group["lr"] = best
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=best, total_steps=8)
for step in range(3):
    x, y = batch(21)
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    scheduler.step()
    mark(f"step {step}")
