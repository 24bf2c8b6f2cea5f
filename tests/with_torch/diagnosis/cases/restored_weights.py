import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(8)]).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(6):
    x = torch.randn(64, 1024, device="cuda")
    opt.zero_grad()
    net(x).pow(2).mean().backward()
    old = [p.detach().clone() for p in net.parameters()]
    with torch.no_grad():
        for p in net.parameters():
            p.add_(p.grad, alpha=0.05)
    opt.zero_grad()
    net(x).pow(2).mean().backward()
    with torch.no_grad():
        for p, o in zip(net.parameters(), old):
            p.copy_(o)
    del old
    opt.step()
