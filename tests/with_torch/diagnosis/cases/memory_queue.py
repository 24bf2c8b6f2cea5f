import torch
from torch import nn
from torch.nn import functional as F


class MoCo(nn.Module):
    def __init__(self, dim=256):
        super().__init__()
        self.encoder_q = nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, dim))
        self.encoder_k = nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, dim))
        for p, k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            k.data.copy_(p.data)
            k.requires_grad = False
        self.register_buffer("queue", torch.randn(dim, 1024))

    @torch.no_grad()
    def momentum_update(self):
        for p, k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            k.mul_(0.99).add_(p, alpha=0.01)

    @torch.no_grad()
    def enqueue(self, keys):
        self.queue = torch.cat([self.queue, keys.T], dim=1)

    def forward(self, im_q, im_k):
        q = F.normalize(self.encoder_q(im_q), dim=1)
        with torch.no_grad():
            self.momentum_update()
            k = F.normalize(self.encoder_k(im_k), dim=1)
        positive = (q * k).sum(1, keepdim=True)
        negative = q @ self.queue.clone().detach()
        self.enqueue(k)
        return torch.cat([positive, negative], 1) / 0.07


model = MoCo().cuda()
opt = torch.optim.SGD(model.parameters(), lr=0.03)
for i in range(3000):
    a, b = torch.randn(256, 512, device="cuda"), torch.randn(256, 512, device="cuda")
    logits = model(a, b)
    loss = F.cross_entropy(logits, torch.zeros(256, dtype=torch.long, device="cuda"))
    opt.zero_grad()
    loss.backward()
    opt.step()
