import torch
from torch import nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(32)
        self.qkv = nn.Linear(32, 96)
        self.out = nn.Linear(32, 32)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm(x)).split(32, dim=2)
        q = q.view(b, t, 4, 8).transpose(1, 2)
        k = k.view(b, t, 4, 8).transpose(1, 2)
        v = v.view(b, t, 4, 8).transpose(1, 2)
        att = F.softmax(q @ k.transpose(2, 3) * 0.35, dim=3)
        y = (att @ v).transpose(1, 2).reshape(b, t, c)
        return x + self.out(y)


model = Block().cuda()
head = nn.Linear(32, 10).cuda()
mark("model")
params = [p for p in model.parameters()]
for step in range(1):
    x = torch.randn(4, 6, 32, device="cuda")
    y = torch.randint(0, 10, (24,), device="cuda")
    loss = F.cross_entropy(head(model(x)).view(24, 10), y)
    grads = torch.autograd.grad(loss, params, create_graph=True)
    dot = 0.0
    for g in grads:
        dot = dot + (g * torch.ones_like(g)).sum()
    hv = torch.autograd.grad(dot, params)
    mark(f"step {step}")
