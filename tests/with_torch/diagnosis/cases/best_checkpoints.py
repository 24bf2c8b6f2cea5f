import heapq

import torch
from torch import nn


class TopK:
    """Keeps the best three, on purpose on the GPU: they are averaged at the end."""

    def __init__(self, k=3):
        self.k, self.heap = k, []

    def offer(self, score, model, step):
        state = {n: p.detach().clone() for n, p in model.state_dict().items()}
        heapq.heappush(self.heap, (score, step, state))
        if len(self.heap) > self.k:
            heapq.heappop(self.heap)


net = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512)).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
best = TopK()
for step in range(60):
    x = torch.randn(2048, 512, device="cuda")
    loss = (net(x) - x).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 6 == 5:
        best.offer(-loss.item(), net, step)
