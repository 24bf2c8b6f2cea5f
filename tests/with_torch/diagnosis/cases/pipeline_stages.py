from collections import deque

import torch
from torch import nn

stages = [nn.Sequential(nn.Linear(512, 512), nn.ReLU()).cuda() for _ in range(4)]
optimizer = torch.optim.SGD([p for s in stages for p in s.parameters()], lr=0.1)


def one_f_one_b(batches, depth):
    in_flight = deque()
    for x in batches:
        y = x
        for stage in stages:
            y = stage(y)
        in_flight.append(y.square().mean() / 8)
        if len(in_flight) > depth:
            in_flight.popleft().backward()
    while in_flight:
        in_flight.popleft().backward()


for step in range(12):
    optimizer.zero_grad()
    one_f_one_b((torch.randn(512, 512, device="cuda") for _ in range(8)), depth=3)
    optimizer.step()
