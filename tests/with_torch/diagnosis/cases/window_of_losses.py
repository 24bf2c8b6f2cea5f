import torch
import torch.nn as nn
import torch.nn.functional as F

from collections import deque
losses = deque(maxlen=100)
net = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 10)).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(300):
    x = torch.randn(256, 256, device="cuda")
    y = torch.randint(0, 10, (256,), device="cuda")
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append(loss.detach())
    if i % 50 == 0:
        print(torch.stack(list(losses)).mean().item())
