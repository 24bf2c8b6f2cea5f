import torch
import torch.nn as nn
import torch.nn.functional as F

import functools

@functools.lru_cache(maxsize=None)
def mask(n, m):
    return torch.triu(torch.ones(n, m, device="cuda"), 1)

net = nn.Linear(64, 64).cuda()
with torch.no_grad():
    for i in range(4000):
        n = 512 + i
        x = torch.randn(n, 64, device="cuda")
        a = torch.softmax(net(x) @ x.t() + mask(n, n), 1)
