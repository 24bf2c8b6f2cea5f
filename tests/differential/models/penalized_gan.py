import copy
import torch
from torch import nn
import torch.nn.functional as F


class Generator(nn.Module):
    def __init__(self, z, classes):
        super().__init__()
        self.embed = nn.Embedding(classes, 24)
        self.fc = nn.Linear(z + 24, 48 * 4 * 4)
        self.c1 = nn.Conv2d(48, 32, 3, padding=1)
        self.c2 = nn.Conv2d(32, 3, 3, padding=1)

    def forward(self, z, y):
        x = self.fc(torch.cat([z, self.embed(y)], dim=1)).view(-1, 48, 4, 4)
        x = F.leaky_relu(self.c1(F.interpolate(x, scale_factor=2, mode="nearest")), 0.2)
        return torch.tanh(self.c2(F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)))


class Critic(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.c1 = nn.Conv2d(3, 32, 4, stride=2, padding=1)
        self.c2 = nn.Conv2d(32, 64, 4, stride=2, padding=1)
        self.out = nn.Linear(64, 1)
        self.embed = nn.Embedding(classes, 64)

    def forward(self, x, y):
        h = F.leaky_relu(self.c2(F.leaky_relu(self.c1(x), 0.2)), 0.2).sum(dim=(2, 3))
        return self.out(h).squeeze(1) + (self.embed(y) * h).sum(1)


G, D = Generator(30, 6).cuda(), Critic(6).cuda()
ema = copy.deepcopy(G).requires_grad_(False)
g_opt = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.0, 0.99))
d_opt = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.0, 0.99))
mark("models")
for step in range(3):
    real = torch.rand(7, 3, 16, 16, device="cuda") * 2 - 1
    y = torch.randint(0, 6, (7,), device="cuda")
    z = torch.randn(7, 30, device="cuda")
    with torch.no_grad():
        fake = G(z, y)
    real.requires_grad_(step % 2 == 0)
    real_score = D(real, y)
    d_loss = F.relu(1 - real_score).mean() + F.relu(1 + D(fake, y)).mean()
    if step % 2 == 0:
        (grad,) = torch.autograd.grad(real_score.sum(), real, create_graph=True)
        d_loss = d_loss + 5.0 * grad.pow(2).sum(dim=(1, 2, 3)).mean()
    d_opt.zero_grad()
    d_loss.backward()
    d_opt.step()
    mark(f"critic {step}")
    for p in D.parameters():
        p.requires_grad = False
    g_loss = -D(G(z, y), y).mean()
    g_opt.zero_grad()
    g_loss.backward()
    g_opt.step()
    for p in D.parameters():
        p.requires_grad = True
    with torch.no_grad():
        for e, p in zip(ema.parameters(), G.parameters()):
            e.lerp_(p, 0.01)
    mark(f"generator {step}")
samples = ema(torch.randn(5, 30, device="cuda"), torch.arange(5, device="cuda"))
grid = samples.add(1).div(2).clamp(0, 1).mul(255).round().to(torch.uint8).cpu()
mark("samples")
