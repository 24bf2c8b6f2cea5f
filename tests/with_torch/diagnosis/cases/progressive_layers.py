import torch
from torch import nn


class Progressive(nn.Module):
    def __init__(self, width=512):
        super().__init__()
        self.width = width
        self.stages = nn.ModuleList()
        self.head = nn.Linear(width, 10)

    def grow(self):
        self.stages.append(nn.Sequential(nn.Linear(self.width, self.width), nn.ReLU()).cuda())

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        return self.head(x)


net = Progressive().cuda()
for stage in range(6):
    net.grow()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for step in range(5):
        loss = net(torch.randn(512, 512, device="cuda")).logsumexp(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
