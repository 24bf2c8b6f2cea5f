import math
import torch
from torch import nn
import torch.nn.functional as F


class Mixer(nn.Module):
    def __init__(self, tokens, dim, depth=2):
        super().__init__()
        self.embed = nn.Conv2d(3, dim, 4, stride=4)
        self.norm1 = nn.ModuleList([nn.LayerNorm(dim) for _ in range(depth)])
        self.norm2 = nn.ModuleList([nn.LayerNorm(dim) for _ in range(depth)])
        self.token = nn.ModuleList([nn.Sequential(nn.Linear(tokens, 32), nn.GELU(), nn.Linear(32, tokens)) for _ in range(depth)])
        self.channel = nn.ModuleList([nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim)) for _ in range(depth)])
        self.head = nn.Linear(dim, 10)

    def forward(self, x):
        x = self.embed(x).flatten(2).transpose(1, 2)
        for n1, t, n2, c in zip(self.norm1, self.token, self.norm2, self.channel):
            x = x + t(n1(x).transpose(1, 2)).transpose(1, 2)
            x = x + c(n2(x))
        return self.head(x.mean(1))


model = Mixer(16, 48).cuda()
params = [p for p in model.parameters() if p.requires_grad]
momenta = [torch.zeros_like(p) for p in params]
averages = [torch.zeros_like(p) for p in params]
squares = [torch.zeros_like(p) for p in params]
ema = [p.detach().clone() for p in params]
mark("model")


def lion(lr, wd):
    with torch.no_grad():
        for p, m in zip(params, momenta):
            p.mul_(1 - lr * wd)
            update = (m * 0.9 + p.grad * 0.1).sign_()
            p.add_(update, alpha=-lr)
            m.mul_(0.99).add_(p.grad, alpha=0.01)


def lamb(lr, step):
    with torch.no_grad():
        for p, m, v in zip(params, averages, squares):
            g = p.grad
            m.mul_(0.9).add_(g, alpha=0.1)
            v.mul_(0.999).addcmul_(g, g, value=0.001)
            r = (m / (1 - 0.9 ** step)) / ((v / (1 - 0.999 ** step)).sqrt() + 1e-6)
            r.add_(p, alpha=0.01)
            w_norm = p.norm(2)
            r_norm = r.norm(2)
            ratio = torch.where(w_norm > 0, torch.where(r_norm > 0, w_norm / r_norm, torch.ones_like(w_norm)), torch.ones_like(w_norm))
            p.sub_(r * ratio * lr)


for step in range(4):
    x = torch.randn(12, 3, 16, 16, device="cuda")
    y = torch.randint(0, 10, (12,), device="cuda")
    loss = F.cross_entropy(model(x), y, label_smoothing=0.1)
    for p in params:
        p.grad = None
    loss.backward()
    total = torch.norm(torch.stack([torch.norm(p.grad.detach(), 2) for p in params]), 2)
    coef = torch.clamp(1.0 / (total + 1e-6), max=1.0)
    for p in params:
        p.grad.detach().mul_(coef)
    if step % 2 == 0:
        lion(1e-4, 0.1)
    else:
        lamb(1e-3, step)
    with torch.no_grad():
        for e, p in zip(ema, params):
            e.lerp_(p, 0.1)
    mark(f"step {step}")
backup = [p.detach().clone() for p in params]
with torch.no_grad():
    for p, e in zip(params, ema):
        p.copy_(e)
    out = model(x)
    for p, b in zip(params, backup):
        p.copy_(b)
mark("evaluated")
