"""A model that is called by itself, and then as a part of another one that is trained."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(1024, 1024) for _ in range(3)])
        self.head = nn.Linear(1024, 1024)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return self.head(x)


class Trainer(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(x).square().mean()


def batch():
    return torch.randn(512, 1024, device="cuda")


model = Net().cuda()
checked = model(batch())
trainer = Trainer(model)
optimizer = torch.optim.SGD(trainer.parameters(), lr=0.1)
for step in range(4):
    optimizer.zero_grad()
    trainer(batch()).backward()
    optimizer.step()
