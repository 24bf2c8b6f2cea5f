import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(*[nn.Linear(768, 768) for _ in range(6)]).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
trajectory = {}
for step in range(500):
    loss = net(torch.randn(32, 768, device="cuda")).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    trajectory[step] = [p.detach().clone() for p in net.parameters()]
