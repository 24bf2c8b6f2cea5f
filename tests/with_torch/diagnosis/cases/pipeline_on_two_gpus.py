import torch
from torch import nn


class Stages:
    def __init__(self):
        self.first = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512)).to("cuda:0")
        self.second = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512)).to("cuda:1")
        self.log = []

    def parameters(self):
        return [*self.first.parameters(), *self.second.parameters()]

    def __call__(self, x):
        hidden = self.first(x.to("cuda:0")).to("cuda:1")
        out = self.second(hidden)
        self.log.append({"norm": out.norm().item(), "out": out})
        return out


stages = Stages()
optimizer = torch.optim.SGD(stages.parameters(), lr=0.1)
for step in range(2000):
    x = torch.randn(512, 512)
    loss = stages(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
