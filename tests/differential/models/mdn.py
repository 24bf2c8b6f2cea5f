import math
import torch
from torch import nn
import torch.nn.functional as F


class MDN(nn.Module):
    def __init__(self, inputs, outputs, mixtures, hidden=32):
        super().__init__()
        self.outputs, self.mixtures = outputs, mixtures
        self.hidden = nn.Sequential(nn.Linear(inputs, hidden), nn.ELU(), nn.Linear(hidden, hidden), nn.Softplus())
        self.pi = nn.Linear(hidden, mixtures)
        self.sigma = nn.Linear(hidden, outputs * mixtures)
        self.mu = nn.Linear(hidden, outputs * mixtures)

    def forward(self, x):
        h = self.hidden(x)
        pi = F.softmax(self.pi(h), dim=1)
        sigma = torch.exp(self.sigma(h)).view(-1, self.mixtures, self.outputs)
        mu = self.mu(h).view(-1, self.mixtures, self.outputs)
        return pi, sigma, mu


def mdn_loss(pi, sigma, mu, target):
    target = target.unsqueeze(1).expand_as(sigma)
    log_prob = -0.5 * ((target - mu) / sigma) ** 2 - torch.log(sigma) - 0.5 * math.log(2 * math.pi)
    log_prob = log_prob.sum(2)
    return -torch.logsumexp(torch.log(pi + 1e-8) + log_prob, dim=1).mean()


model = MDN(2, 3, 5).cuda()
opt = torch.optim.NAdam(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.95)
x = torch.randn(64, 2, device="cuda")
y = torch.randn(64, 3, device="cuda")
mark("data")
for step in range(3):
    opt.zero_grad()
    pi, sigma, mu = model(x)
    loss = mdn_loss(pi, sigma, mu, y)
    mark(f"forward {step}")
    loss.backward()
    opt.step()
    scheduler.step()
    mark(f"step {step}")
with torch.no_grad():
    pi, sigma, mu = model(x)
    k = torch.multinomial(pi, 1).view(-1, 1, 1).expand(-1, 1, 3)
    sample = mu.gather(1, k).squeeze(1) + sigma.gather(1, k).squeeze(1) * torch.randn(64, 3, device="cuda")
mark("sampled")
