import torch
from torch import nn
import torch.nn.functional as F


class ActorCritic(nn.Module):
    def __init__(self, observations=8, actions=3, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(observations, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.mean = nn.Linear(hidden, actions)
        self.critic = nn.Linear(hidden, 1)
        self.log_std = nn.Parameter(torch.zeros(actions))

    def forward(self, x):
        h = self.body(x)
        return torch.distributions.Normal(self.mean(h), self.log_std.exp(), validate_args=False), self.critic(h).squeeze(-1)


model = ActorCritic().cuda()
opt = torch.optim.Adam(model.parameters(), lr=3e-4)
obs = torch.randn(32, 8, device="cuda")
with torch.no_grad():
    policy, value = model(obs)
    action = policy.rsample()
    old = policy.log_prob(action).sum(-1)
mark("rollout")
adv = torch.randn(32, device="cuda")
ret = torch.randn(32, device="cuda")
for step in range(3):
    policy, value = model(obs)
    ratio = (policy.log_prob(action).sum(-1) - old).exp()
    pg = torch.max(-adv * ratio, -adv * torch.clamp(ratio, 0.8, 1.2)).mean()
    loss = pg + 0.5 * F.mse_loss(value, ret) - 0.01 * policy.entropy().sum(-1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    mark(f"step {step}")
