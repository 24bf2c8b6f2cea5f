from collections import defaultdict
import torch
from torch import nn


class Trainer:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 512)).cuda()
        self.optimizer = torch.optim.Adam(self.model.parameters())
        self.metrics = defaultdict(list)

    def log(self, **values):
        for name, value in values.items():
            self.metrics[name].append(value)

    def fit(self, steps):
        for step in range(steps):
            x = torch.randn(1024, 512, device="cuda")
            loss = (self.model(x) - x).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward(retain_graph=step % 10 == 0)
            self.optimizer.step()
            self.log(loss=loss, step=step)


Trainer().fit(400)
