import copy
import math
import torch
from torch import nn
import torch.nn.functional as F


class Actor(nn.Module):
    def __init__(self, obs, act, hidden=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.mean = nn.Linear(hidden, act)
        self.log_std = nn.Linear(hidden, act)

    def forward(self, x):
        h = self.net(x)
        mean = self.mean(h)
        log_std = torch.clamp(self.log_std(h), -5, 2)
        std = log_std.exp()
        u = mean + std * torch.randn_like(std)
        action = torch.tanh(u)
        logp = -((u - mean) ** 2) / (2 * std ** 2) - log_std - math.log(math.sqrt(2 * math.pi))
        logp = logp - torch.log(1 - action.pow(2) + 1e-6)
        return action, logp.sum(1, keepdim=True)


class Critic(nn.Module):
    def __init__(self, obs, act, hidden=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs + act, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, s, a):
        return self.net(torch.cat([s, a], dim=1))


actor = Actor(6, 2).cuda()
q1, q2 = Critic(6, 2).cuda(), Critic(6, 2).cuda()
t1, t2 = copy.deepcopy(q1), copy.deepcopy(q2)
log_alpha = torch.zeros(1, requires_grad=True, device="cuda")
actor_opt = torch.optim.Adam(actor.parameters(), lr=3e-4)
q_opt = torch.optim.Adam(list(q1.parameters()) + list(q2.parameters()), lr=3e-4)
alpha_opt = torch.optim.Adam([log_alpha], lr=3e-4)
mark("models")
for step in range(2):
    s = torch.randn(32, 6, device="cuda")
    a = torch.rand(32, 2, device="cuda") * 2 - 1
    r = torch.randn(32, 1, device="cuda")
    s2 = torch.randn(32, 6, device="cuda")
    alpha = log_alpha.exp().item()
    with torch.no_grad():
        a2, logp2 = actor(s2)
        target = torch.min(t1(s2, a2), t2(s2, a2)) - alpha * logp2
        y = r + 0.99 * target
    q_loss = F.mse_loss(q1(s, a), y) + F.mse_loss(q2(s, a), y)
    q_opt.zero_grad()
    q_loss.backward()
    q_opt.step()
    mark(f"critics {step}")
    pi, logp = actor(s)
    actor_loss = (alpha * logp - torch.min(q1(s, pi), q2(s, pi))).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
    mark(f"actor {step}")
    alpha_loss = -(log_alpha * (logp.detach() - 2)).mean()
    alpha_opt.zero_grad()
    alpha_loss.backward()
    alpha_opt.step()
    for p, tp in zip(q1.parameters(), t1.parameters()):
        tp.data.copy_(0.005 * p.data + 0.995 * tp.data)
    for p, tp in zip(q2.parameters(), t2.parameters()):
        tp.data.copy_(0.005 * p.data + 0.995 * tp.data)
    mark(f"targets {step}")
