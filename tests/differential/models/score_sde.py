import copy
import math
import torch
from torch import nn
import torch.nn.functional as F


class GaussianFourier(nn.Module):
    def __init__(self, dim, scale=30.0):
        super().__init__()
        self.W = nn.Parameter(torch.randn(dim // 2) * scale, requires_grad=False)

    def forward(self, x):
        x_proj = x[:, None] * self.W[None, :] * 2 * math.pi
        return torch.cat([torch.sin(x_proj), torch.cos(x_proj)], dim=-1)


class Dense(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.dense = nn.Linear(i, o)

    def forward(self, x):
        return self.dense(x)[..., None, None]


class ScoreNet(nn.Module):
    def __init__(self, channels=(16, 32, 48), dim=32):
        super().__init__()
        self.embed = nn.Sequential(GaussianFourier(dim), nn.Linear(dim, dim))
        self.conv1 = nn.Conv2d(1, 16, 3, stride=1, bias=False)
        self.dense1 = Dense(dim, 16)
        self.gnorm1 = nn.GroupNorm(4, 16)
        self.conv2 = nn.Conv2d(16, 32, 3, stride=2, bias=False)
        self.dense2 = Dense(dim, 32)
        self.gnorm2 = nn.GroupNorm(32, 32)
        self.conv3 = nn.Conv2d(32, 48, 3, stride=2, bias=False)
        self.dense3 = Dense(dim, 48)
        self.gnorm3 = nn.GroupNorm(16, 48)
        self.tconv3 = nn.ConvTranspose2d(48, 32, 3, stride=2, bias=False, output_padding=1)
        self.dense4 = Dense(dim, 32)
        self.tgnorm3 = nn.GroupNorm(32, 32)
        self.tconv2 = nn.ConvTranspose2d(64, 16, 3, stride=2, bias=False, output_padding=1)
        self.dense5 = Dense(dim, 16)
        self.tgnorm2 = nn.GroupNorm(16, 16)
        self.tconv1 = nn.ConvTranspose2d(32, 1, 3, stride=1)

    def act(self, x):
        return x * torch.sigmoid(x)

    def forward(self, x, t):
        embed = self.act(self.embed(t))
        h1 = self.conv1(x)
        h1 += self.dense1(embed)
        h1 = self.act(self.gnorm1(h1))
        h2 = self.conv2(h1)
        h2 += self.dense2(embed)
        h2 = self.act(self.gnorm2(h2))
        h3 = self.conv3(h2)
        h3 += self.dense3(embed)
        h3 = self.act(self.gnorm3(h3))
        h = self.tconv3(h3)
        h += self.dense4(embed)
        h = self.act(self.tgnorm3(h))
        h = self.tconv2(torch.cat([h, h2], dim=1))
        h += self.dense5(embed)
        h = self.act(self.tgnorm2(h))
        h = self.tconv1(torch.cat([h, h1], dim=1))
        h = h / marginal_std(t)[:, None, None, None]
        return h


def marginal_std(t):
    return torch.sqrt((25.0 ** (2 * t) - 1.0) / 2.0 / math.log(25.0))


model = ScoreNet().cuda()
ema = copy.deepcopy(model)
for p in ema.parameters():
    p.requires_grad_(False)
optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-4)
mark("model")
for step in range(2):
    x = torch.rand(4, 1, 20, 20, device="cuda")
    t = torch.rand(x.shape[0], device=x.device) * (1.0 - 1e-5) + 1e-5
    z = torch.randn_like(x)
    std = marginal_std(t)
    perturbed = x + z * std[:, None, None, None]
    score = model(perturbed, t)
    loss = torch.mean(torch.sum((score * std[:, None, None, None] + z) ** 2, dim=(1, 2, 3)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for q, p in zip(ema.parameters(), model.parameters()):
            q.lerp_(p, 0.01)
    mark(f"dsm {step}")
for step in range(2):
    x1 = torch.rand(4, 1, 20, 20, device="cuda")
    x0 = torch.randn_like(x1)
    t = torch.rand(4, device="cuda").clamp(1e-3, 1)
    xt = t.view(-1, 1, 1, 1) * x1 + (1 - t.view(-1, 1, 1, 1)) * x0
    r = (t + 0.05).clamp(max=1.0)
    xr = r.view(-1, 1, 1, 1) * x1 + (1 - r.view(-1, 1, 1, 1)) * x0
    v = model(xt, t)
    with torch.no_grad():
        goal = ema(xr, r)
    flow = F.mse_loss(v, x1 - x0)
    consistency = torch.sqrt((v - goal).square().mean(dim=(1, 2, 3)) + 1e-6) - 1e-3
    loss = flow + consistency.mean()
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    optimizer.step()
    mark(f"flow {step}")
model.eval()
with torch.no_grad():
    t = torch.ones(2, device="cuda")
    x = torch.randn(2, 1, 20, 20, device="cuda") * marginal_std(t)[:, None, None, None]
    time_steps = torch.linspace(1.0, 1e-3, 4, device="cuda")
    step_size = time_steps[0] - time_steps[1]
    for i in range(4):
        batch_time_step = torch.ones(2, device="cuda") * time_steps[i]
        grad = model(x, batch_time_step)
        grad_norm = torch.norm(grad.reshape(grad.shape[0], -1), dim=-1).mean()
        langevin = 2 * (0.16 * 18 / grad_norm) ** 2
        x = x + langevin * grad + torch.sqrt(2 * langevin) * torch.randn_like(x)
        g = 25.0 ** batch_time_step
        x_mean = x + (g ** 2)[:, None, None, None] * model(x, batch_time_step) * step_size
        x = x_mean + torch.sqrt(g ** 2 * step_size)[:, None, None, None] * torch.randn_like(x)
    mark("sampled")
