import torch
from torch import nn


def make_trainer(model, optimizer):
    regularization = 0.0

    def step(batch):
        nonlocal regularization
        output = model(batch)
        loss = (output - batch).abs().mean()
        penalty = model(batch * 0.5).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        regularization = regularization + penalty
        return loss.item()

    def report():
        return float(regularization)

    return step, report


model = nn.Sequential(nn.Linear(768, 768), nn.ReLU(), nn.Linear(768, 768)).cuda()
step, report = make_trainer(model, torch.optim.RMSprop(model.parameters()))
for i in range(2000):
    step(torch.randn(512, 768, device="cuda"))
print(report())
