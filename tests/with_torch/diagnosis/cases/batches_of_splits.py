from functools import cached_property

import torch
import torch.nn as nn


class Split:
    def __init__(self, name, n):
        self.name, self.n = name, n

    @cached_property
    def batches(self):
        return [torch.randn(256, 1024).cuda() for _ in range(self.n)]


class Experiment:
    def __init__(self):
        self.splits = [Split(f"s{i}", 12) for i in range(60)]
        self.net = nn.Linear(1024, 16).cuda()
        self.opt = torch.optim.SGD(self.net.parameters(), 0.01)

    def run(self):
        for split in self.splits:
            for x in split.batches:
                self.opt.zero_grad()
                self.net(x).square().mean().backward()
                self.opt.step()


Experiment().run()
