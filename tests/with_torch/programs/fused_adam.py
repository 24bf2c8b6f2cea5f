"""Steps a stack of linear layers with an optimizer that is fused, or is not: without activations to
speak of, so that the peak is the optimizer's.

    python fused_adam.py AdamW fused
"""
import sys

import torch
from torch import nn

kind, way = sys.argv[1:]
model = nn.Sequential(*(nn.Linear(1500 + 8 * i, 1508 + 8 * i) for i in range(12))).cuda()
optimizer = getattr(torch.optim, kind)(model.parameters(), fused=True if way == "fused" else None)
for _ in range(3):
    loss = model(torch.randn(4, 1500, device="cuda")).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
