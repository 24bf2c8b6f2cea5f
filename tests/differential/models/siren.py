import math
import torch
from torch import nn
import torch.nn.functional as F


class Sine(nn.Module):
    def __init__(self, w0=1.0):
        super().__init__()
        self.w0 = w0

    def forward(self, x):
        return torch.sin(self.w0 * x)


class SirenLayer(nn.Module):
    def __init__(self, dim_in, dim_out, w0, is_first):
        super().__init__()
        self.linear = nn.Linear(dim_in, dim_out)
        self.activation = Sine(w0)
        with torch.no_grad():
            bound = 1 / dim_in if is_first else math.sqrt(6 / dim_in) / w0
            self.linear.weight.uniform_(-bound, bound)

    def forward(self, x):
        return self.activation(self.linear(x))


def grid(n):
    t = torch.linspace(-1, 1, n)
    a, b = torch.meshgrid(t, t, indexing="ij")
    return torch.stack([a, b], dim=-1).reshape(-1, 2)


def gradient(y, x):
    return torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]


def laplace(y, x):
    g = gradient(y, x)
    along_x = torch.autograd.grad(g[..., 0], x, torch.ones_like(g[..., 0]), create_graph=True)[0]
    along_y = torch.autograd.grad(g[..., 1], x, torch.ones_like(g[..., 1]), create_graph=True)[0]
    return along_x[..., :1] + along_y[..., 1:], g


model = nn.Sequential(SirenLayer(2, 128, 30.0, True), SirenLayer(128, 128, 30.0, False), SirenLayer(128, 128, 30.0, False), nn.Linear(128, 1)).cuda()
coords = grid(24).cuda()
truth = torch.rand(576, 1, device="cuda")
field = torch.rand(576, 2, device="cuda")
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
mark("model")
for step in range(3):
    x = coords.clone().detach().requires_grad_(True)
    y = model(x)
    if step == 0:
        loss = ((y - truth) ** 2).mean()
    elif step == 1:
        g = gradient(y, x)
        loss = (g - field).pow(2).sum(-1).mean()
    else:
        lap, g = laplace(y, x)
        loss = torch.mean((lap - truth) ** 2)
    mark(f"forward {step}")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mark(f"step {step}")
