import math
import torch
from torch import nn
import torch.nn.functional as F


class Actor(nn.Module):
    def __init__(self, obs, act, hidden=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs, hidden), nn.ReLU())
        self.mean = nn.Linear(hidden, act)
        self.log_std = nn.Linear(hidden, act)

    def forward(self, x):
        h = self.net(x)
        mean = self.mean(h)
        std = torch.clamp(self.log_std(h), -5, 2).exp()
        normal = torch.distributions.Normal(mean, std, validate_args=False)
        u = normal.rsample()
        action = torch.tanh(u)
        logp = normal.log_prob(u) - torch.log(1 - action.pow(2) + 1e-6)
        return action, logp.sum(1, keepdim=True)


actor = Actor(6, 2).cuda()
critic = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 1)).cuda()
opt = torch.optim.Adam(actor.parameters(), lr=3e-4)
for step in range(3):
    s = torch.randn(32, 6, device="cuda")
    a, logp = actor(s)
    loss = (0.2 * logp - critic(torch.cat([s, a], dim=1))).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    mark(f"step {step}")
