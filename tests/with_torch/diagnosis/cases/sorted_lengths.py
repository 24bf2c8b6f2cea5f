import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 10)).cuda()
opt = torch.optim.AdamW(net.parameters())
for i in range(60):
    x = torch.randn(1000 + 200 * i, 256, device="cuda")
    y = torch.randint(0, 10, (x.shape[0],), device="cuda")
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
