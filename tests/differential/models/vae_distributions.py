import torch
from torch import nn
import torch.nn.functional as F


class VAE(nn.Module):
    def __init__(self, size=64, hidden=32, latent=8):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(size, hidden), nn.ReLU())
        self.mean = nn.Linear(hidden, latent)
        self.log_var = nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, size))

    def forward(self, x):
        h = self.encoder(x)
        mean = self.mean(h)
        std = torch.exp(0.5 * self.log_var(h))
        q = torch.distributions.Independent(torch.distributions.Normal(mean, std, validate_args=False), 1, validate_args=False)
        z = q.rsample()
        p = torch.distributions.Independent(torch.distributions.Normal(torch.zeros_like(mean), torch.ones_like(std), validate_args=False), 1, validate_args=False)
        kl = torch.distributions.kl_divergence(q, p)
        return self.decoder(z), kl


model = VAE().cuda()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(3):
    x = torch.rand(16, 64, device="cuda")
    logits, kl = model(x)
    likelihood = torch.distributions.Independent(torch.distributions.Bernoulli(logits=logits, validate_args=False), 1, validate_args=False)
    loss = (kl - likelihood.log_prob(x)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    mark(f"step {step}")
