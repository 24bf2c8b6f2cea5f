from functools import cached_property

import torch
import torch.nn as nn


class Sample:
    def __init__(self, seed):
        self.seed = seed

    @cached_property
    def image(self):
        g = torch.Generator().manual_seed(self.seed)
        return torch.rand(3, 256, 256, generator=g).cuda()


samples = [Sample(i) for i in range(2000)]
net = nn.Sequential(nn.Conv2d(3, 8, 3, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2)).cuda()
opt = torch.optim.SGD(net.parameters(), 0.1)
for i in range(0, len(samples), 8):
    x = torch.stack([s.image for s in samples[i:i + 8]])
    opt.zero_grad()
    net(x).square().mean().backward()
    opt.step()
