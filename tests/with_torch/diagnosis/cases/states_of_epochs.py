import torch
import torch.nn as nn
import torch.nn.functional as F

import copy
net = nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(4)]).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
snapshots = []
for epoch in range(200):
    for i in range(3):
        loss = net(torch.randn(64, 1024, device="cuda")).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    snapshots.append(copy.deepcopy(net.state_dict()))
