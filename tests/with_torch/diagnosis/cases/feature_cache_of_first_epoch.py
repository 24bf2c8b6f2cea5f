import torch
from torch import nn

backbone = nn.Sequential(nn.Conv2d(3, 64, 8, stride=8), nn.ReLU(), nn.AdaptiveAvgPool2d(8), nn.Flatten()).cuda().eval()
head = nn.Linear(4096, 10).cuda()
opt = torch.optim.Adam(head.parameters())
cache = {}
N = 60
for epoch in range(4):
    for i in range(N):
        y = torch.randint(10, (32,), device="cuda")
        if i not in cache:
            with torch.no_grad():
                cache[i] = backbone(torch.rand(32, 3, 64, 64, device="cuda"))
        loss = nn.functional.cross_entropy(head(cache[i]), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
