import torch
import torch.nn as nn
import torch.nn.functional as F

import sys
failures = []
net = nn.Sequential(nn.Linear(1024, 2048), nn.ReLU(), nn.Linear(2048, 1024)).cuda()

def process(x):
    y = net(x)
    if y.shape[0] % 2 == 0:
        raise RuntimeError("bad sample")
    return y

for i in range(1000):
    try:
        process(torch.randn(1024, 1024, device="cuda"))
    except RuntimeError:
        failures.append(sys.exc_info())
