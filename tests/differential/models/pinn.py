import torch
from torch import nn
import torch.nn.functional as F

net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1)).cuda()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
mark("model")
for step in range(3):
    x = torch.rand(64, 1, device="cuda", requires_grad=True)
    t = torch.rand(64, 1, device="cuda", requires_grad=True)
    u = net(torch.cat([x, t], dim=1))
    u_t = torch.autograd.grad(u.sum(), t, create_graph=True)[0]
    u_x = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
    u_xx = torch.autograd.grad(u_x.sum(), x, create_graph=True)[0]
    residual = u_t + u * u_x - 0.01 * u_xx
    loss = (residual ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    mark(f"step {step}")
