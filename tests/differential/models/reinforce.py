import torch
from torch import nn
import torch.nn.functional as F


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 4))

    def forward(self, x):
        return torch.distributions.Categorical(logits=self.net(x), validate_args=False)


policy = Policy().cuda()
opt = torch.optim.Adam(policy.parameters(), lr=1e-3)
for episode in range(2):
    log_probs = []
    entropies = []
    for t in range(5):
        state = torch.randn(1, 6, device="cuda")
        dist = policy(state)
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        entropies.append(dist.entropy())
    mark(f"episode {episode}")
    returns = torch.randn(5, device="cuda")
    loss = -(torch.cat(log_probs) * returns).sum() - 0.01 * torch.cat(entropies).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    mark(f"update {episode}")
