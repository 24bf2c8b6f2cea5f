import torch
from collections import defaultdict
from torch import nn

net = nn.Sequential(nn.Linear(784, 1024), nn.Tanh(), nn.Linear(1024, 1024), nn.Tanh(), nn.Linear(1024, 10)).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
grads = defaultdict(list)
for it in range(1000):
    x, y = torch.randn(64, 784).cuda(), torch.randint(10, (64,)).cuda()
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    for n, p in net.named_parameters():
        if p.grad is not None:
            grads[n].append(p.grad)
    opt.step()
