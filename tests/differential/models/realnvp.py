import math
import torch
from torch import nn
import torch.nn.functional as F


class ActNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.log_scale = nn.Parameter(torch.zeros(dim))
        self.shift = nn.Parameter(torch.zeros(dim))
        self.register_buffer("initialized", torch.tensor(0, dtype=torch.uint8))

    def initialize(self, x):
        with torch.no_grad():
            mean = x.mean(0)
            std = x.std(0)
            self.shift.data.copy_(-mean)
            self.log_scale.data.copy_(torch.log(1 / (std + 1e-6)))
            self.initialized.fill_(1)

    def forward(self, x):
        z = (x + self.shift) * torch.exp(self.log_scale)
        return z, self.log_scale.sum().expand(x.size(0))

    def inverse(self, z):
        return z * torch.exp(-self.log_scale) - self.shift


class Coupling(nn.Module):
    def __init__(self, dim, hidden, parity):
        super().__init__()
        mask = torch.arange(dim) % 2
        if parity == 1:
            mask = 1 - mask
        self.register_buffer("mask", mask.float())
        self.s = nn.Sequential(nn.Linear(dim, hidden), nn.LeakyReLU(), nn.Linear(hidden, hidden), nn.LeakyReLU(), nn.Linear(hidden, dim), nn.Tanh())
        self.t = nn.Sequential(nn.Linear(dim, hidden), nn.LeakyReLU(), nn.Linear(hidden, hidden), nn.LeakyReLU(), nn.Linear(hidden, dim))

    def forward(self, x):
        kept = x * self.mask
        s = self.s(kept) * (1 - self.mask)
        t = self.t(kept) * (1 - self.mask)
        y = kept + (1 - self.mask) * (x * torch.exp(s) + t)
        return y, s.sum(dim=1)

    def inverse(self, y):
        kept = y * self.mask
        s = self.s(kept) * (1 - self.mask)
        t = self.t(kept) * (1 - self.mask)
        return kept + (1 - self.mask) * ((y - t) * torch.exp(-s))


class Flow(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.norm1 = ActNorm(dim)
        self.coupling1 = Coupling(dim, hidden, 0)
        self.norm2 = ActNorm(dim)
        self.coupling2 = Coupling(dim, hidden, 1)
        self.register_buffer("loc", torch.zeros(dim))

    def forward(self, x):
        logdet = torch.zeros(x.size(0), device="cuda")
        x, ld = self.norm1(x)
        logdet += ld
        x, ld = self.coupling1(x)
        logdet += ld
        x, ld = self.norm2(x)
        logdet += ld
        x, ld = self.coupling2(x)
        logdet += ld
        return x, logdet

    def log_prob(self, x):
        z, logdet = self.forward(x)
        base = -0.5 * ((z - self.loc) ** 2 + math.log(2 * math.pi))
        return base.sum(-1) + logdet

    def sample(self, n):
        z = torch.randn(n, self.loc.size(0), device="cuda")
        x = self.coupling2.inverse(z)
        x = self.norm2.inverse(x)
        x = self.coupling1.inverse(x)
        return self.norm1.inverse(x)


flow = Flow(16, 128).to("cuda")
optimizer = torch.optim.Adam(flow.parameters(), lr=1e-3, weight_decay=1e-5)
mark("model")
x = torch.randn(64, 16, device="cuda")
flow.norm1.initialize(x)
mark("initialized")
for step in range(3):
    x = torch.rand(64, 16, device="cuda")
    x = (x * 255 + torch.rand_like(x)) / 256
    x = torch.log(x) - torch.log1p(-x)
    loss = -flow.log_prob(x).mean()
    mark(f"forward {step}")
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_value_(flow.parameters(), 1.0)
    optimizer.step()
    mark(f"step {step}")
flow.eval()
with torch.no_grad():
    samples = flow.sample(100).sigmoid().cpu()
mark("samples")
