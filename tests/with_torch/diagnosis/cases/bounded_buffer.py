import torch
import torch.nn as nn
import torch.nn.functional as F

from collections import deque
memory = deque(maxlen=50)
net = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1)).cuda()
opt = torch.optim.Adam(net.parameters())
for i in range(200):
    memory.append(torch.randn(2048, 256, device="cuda"))
    loss = net(memory[0]).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
