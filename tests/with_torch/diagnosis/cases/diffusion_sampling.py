import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, c=32):
        super().__init__()
        self.time = nn.Linear(1, c)
        self.inp = nn.Conv2d(3, c, 3, padding=1)
        self.mid = nn.Conv2d(c, c, 3, padding=1)
        self.out = nn.Conv2d(c, 3, 3, padding=1)

    def forward(self, x, t):
        h = torch.nn.functional.silu(self.inp(x) + self.time(t[:, None].float())[:, :, None, None])
        return self.out(torch.nn.functional.silu(self.mid(h)))


class Diffusion:
    def __init__(self, steps=1000):
        self.steps = steps
        self.betas = torch.linspace(1e-4, 0.02, steps, device="cuda")
        self.alphas = torch.cumprod(1 - self.betas, 0)

    def sample(self, model, n):
        model.eval()
        x = torch.randn(n, 3, 64, 64, device="cuda")
        for i in reversed(range(self.steps)):
            t = torch.full((n,), i, device="cuda")
            noise = model(x, t)
            x = (x - self.betas[i] / (1 - self.alphas[i]).sqrt() * noise) / (1 - self.betas[i]).sqrt()
        return x.clamp(-1, 1)


model = Denoiser().cuda()
diffusion = Diffusion()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(30):
    images = torch.rand(8, 3, 64, 64, device="cuda")
    t = torch.randint(0, 1000, (8,), device="cuda")
    noise = torch.randn_like(images)
    a = torch.full((8, 1, 1, 1), 0.5, device="cuda")
    loss = (model(a.sqrt() * images + (1 - a).sqrt() * noise, t) - noise).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
samples = diffusion.sample(model, 16)
