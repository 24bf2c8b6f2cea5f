import torch
from torch import nn
import torch.nn.functional as F


class ODEFunc(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim + 1, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, dim))

    def forward(self, t, y):
        tt = torch.ones_like(y[:, :1]) * t
        return self.net(torch.cat([y, tt], dim=1))


def rk4_step(func, t, dt, y):
    k1 = func(t, y)
    k2 = func(t + dt / 2, y + dt * k1 / 2)
    k3 = func(t + dt / 2, y + dt * k2 / 2)
    k4 = func(t + dt, y + dt * k3)
    return y + dt * (k1 + 2 * k2 + 2 * k3 + k4) / 6


def odeint(func, y0, times):
    ys = [y0]
    y = y0
    for i in range(len(times) - 1):
        dt = times[i + 1] - times[i]
        y = rk4_step(func, times[i], dt, y)
        ys.append(y)
    return torch.stack(ys)


func = ODEFunc(4).cuda()
optimizer = torch.optim.RMSprop(func.parameters(), lr=1e-3)
t = torch.linspace(0.0, 1.0, 6).cuda()
truth = torch.randn(6, 32, 4, device="cuda")
mark("model")
for step in range(3):
    y0 = truth[0].clone()
    pred = odeint(func, y0, t)
    loss = torch.mean(torch.abs(pred - truth))
    mark(f"forward {step}")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mark(f"step {step}")
with torch.no_grad():
    pred = odeint(func, y0, t)
    final = pred[-1].clone()
    error = (pred - truth).abs().mean(dim=(1, 2))
    worst = error.max().item()
mark("evaluated")
