"""Distributions with the checks that they make by default: a policy of actions and one of choices, a
squashed one, and the latent variables of an autoencoder."""
import torch
from torch import nn
from torch.distributions import (
    Bernoulli, Categorical, Independent, MultivariateNormal, Normal, TransformedDistribution, Uniform,
    kl_divergence)
from torch.distributions.transforms import TanhTransform

BATCH, STATE, ACTIONS = 4096, 64, 8


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(STATE, 1024), nn.Tanh(), nn.Linear(1024, 1024), nn.Tanh())
        self.mean = nn.Linear(1024, ACTIONS)
        self.choices = nn.Linear(1024, ACTIONS)
        self.flags = nn.Linear(1024, ACTIONS)
        self.log_std = nn.Parameter(torch.zeros(ACTIONS))

    def forward(self, states):
        hidden = self.body(states)
        normal = Normal(self.mean(hidden), self.log_std.exp().expand(states.shape[0], ACTIONS))
        return (Independent(normal, 1), Categorical(logits=self.choices(hidden)),
                Bernoulli(logits=self.flags(hidden)))


policy = Policy().cuda()
optimizer = torch.optim.Adam(policy.parameters())
for step in range(3):
    states = torch.randn(BATCH, STATE, device="cuda")
    with torch.no_grad():
        actions = [distribution.sample() for distribution in policy(states)]
    distributions = policy(states)
    log_prob = sum(distribution.log_prob(action).reshape(BATCH, -1).sum(dim=1)
                   for distribution, action in zip(distributions, actions))
    entropy = sum(distribution.entropy().mean() for distribution in distributions)
    loss = -(log_prob.exp() * torch.randn(BATCH, device="cuda")).mean() - 0.01 * entropy
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert actions[1].shape == (BATCH,) and loss.shape == ()

mean = torch.zeros(BATCH, ACTIONS, device="cuda", requires_grad=True)
scale = torch.ones(BATCH, ACTIONS, device="cuda", requires_grad=True)
squashed = TransformedDistribution(Normal(mean, scale), TanhTransform(cache_size=1))
action = squashed.rsample()
prior = Normal(torch.zeros_like(mean), torch.ones_like(scale))
(squashed.log_prob(action).mean() + kl_divergence(Normal(mean, scale), prior).mean()).backward()
assert mean.grad.shape == mean.shape

Uniform(-torch.ones(8, device="cuda"), torch.ones(8, device="cuda")).log_prob(
    torch.zeros(8, device="cuda"))
MultivariateNormal(torch.zeros(4, device="cuda"), torch.eye(4, device="cuda")).rsample()
print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
