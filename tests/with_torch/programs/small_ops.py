"""A loop of small ops, of which the host is the slow part; with --leak each step keeps a gigabyte."""
import argparse
import statistics
import time

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=40)
parser.add_argument("--leak", action="store_true")
arguments = parser.parse_args()

layers = [layer for _ in range(8) for layer in (nn.Linear(64, 64), nn.LayerNorm(64), nn.GELU())]
model = nn.Sequential(*layers).cuda()
optimizer = torch.optim.AdamW(model.parameters())
kept, seconds = [], []
for _ in range(arguments.steps):
    start = time.process_time()
    batch = torch.randn(32, 64, device="cuda")
    optimizer.zero_grad()
    loss = model(batch).square().mean()
    loss.backward()
    optimizer.step()
    if arguments.leak:
        kept.append(torch.empty(1 << 28, device="cuda"))
    seconds.append(time.process_time() - start)
print(f"{statistics.median(seconds) * 1e6:.1f} us of processor time in a step")
