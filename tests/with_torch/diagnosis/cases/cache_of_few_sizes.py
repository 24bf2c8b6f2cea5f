import torch
import torch.nn as nn
import torch.nn.functional as F

rope = {}
def table(n):
    if n not in rope:
        rope[n] = torch.randn(n, 4096, device="cuda")
    return rope[n]
net = nn.Linear(4096, 64).cuda()
with torch.no_grad():
    for i in range(100):
        net(table(128 * (1 + i % 4)))
