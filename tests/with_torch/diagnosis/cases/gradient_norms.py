import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(*[nn.Linear(512, 512) for _ in range(6)]).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
norms = []
for i in range(60):
    net(torch.randn(1024, 512, device="cuda")).pow(2).mean().backward()
    norms.append(torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0))
    opt.step()
    opt.zero_grad()
