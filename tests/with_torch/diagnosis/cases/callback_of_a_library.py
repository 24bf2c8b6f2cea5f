import os
import sys
import textwrap

os.makedirs("site-packages/minitrainer", exist_ok=True)
with open("site-packages/minitrainer/__init__.py", "w") as file:
    file.write(textwrap.dedent("""
        import torch


        class Trainer:
            def __init__(self, model, optimizer, compute_loss, callbacks=()):
                self.model, self.optimizer = model, optimizer
                self.compute_loss, self.callbacks = compute_loss, callbacks

            def train(self, steps):
                for step in range(steps):
                    x = torch.randn(1024, 512, device="cuda")
                    loss = self.compute_loss(self.model, x)
                    self.optimizer.zero_grad()
                    loss.backward()
                    self.optimizer.step()
                    for callback in self.callbacks:
                        callback(step, loss, self.model, x)
        """))
sys.path.insert(0, "site-packages")

import torch
from torch import nn

from minitrainer import Trainer


class Record:
    def __init__(self):
        self.history = []

    def __call__(self, step, loss, model, x):
        self.history.append(nn.functional.l1_loss(model(x), x))


def compute_loss(model, x):
    return nn.functional.mse_loss(model(x), x)


net = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512)).cuda()
record = Record()
Trainer(net, torch.optim.AdamW(net.parameters()), compute_loss, [record]).train(300)
