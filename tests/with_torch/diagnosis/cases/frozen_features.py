import torch
import torch.nn as nn
import torch.nn.functional as F

backbone = nn.Sequential(*[nn.Sequential(nn.Linear(1024, 1024), nn.ReLU()) for _ in range(8)]).cuda().requires_grad_(False)
head = nn.Linear(1024, 10).cuda()
opt = torch.optim.SGD(head.parameters(), lr=0.1)
for i in range(10):
    x = torch.randn(4096, 1024, device="cuda")
    y = torch.randint(0, 10, (4096,), device="cuda")
    loss = F.cross_entropy(head(backbone(x)), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
