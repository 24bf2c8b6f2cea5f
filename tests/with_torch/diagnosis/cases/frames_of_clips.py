from functools import cached_property

import torch
import torch.nn as nn


class Clip:
    def __init__(self, seed):
        self.seed = seed

    @cached_property
    def frames(self):
        """Decoded once."""
        def decode():
            return torch.rand(8, 3, 96, 96)

        return decode().cuda()


class Library:
    def __init__(self, n):
        self.clips = {f"clip{i}": Clip(i) for i in range(n)}

    def __getitem__(self, name):
        return self.clips[name].frames


library = Library(1500)
net = nn.Sequential(nn.Conv2d(3, 8, 3, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2)).cuda()
opt = torch.optim.SGD(net.parameters(), 0.1)
for name in library.clips:
    opt.zero_grad()
    net(library[name]).square().mean().backward()
    opt.step()
