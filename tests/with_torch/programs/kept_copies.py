#!/usr/bin/env python3
"""Data and a copy of a model's weights that are kept from the beginning on, and 200 steps after it,
whose events a short history has alone."""
import copy

import torch

data = torch.randn(1024, 1024, device="cuda")
model = torch.nn.Linear(1024, 512, device="cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
best = None
for step in range(200):
    if step in (0, 190):
        first, best = best, copy.deepcopy(model.state_dict())
    optimizer.zero_grad()
    model(data[:8]).square().mean().backward()
    optimizer.step()
