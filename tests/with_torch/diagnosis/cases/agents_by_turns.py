import torch
import torch.nn as nn


class Actor(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width, 2048), nn.Tanh(), nn.Linear(2048, 8))

    def forward(self, x):
        return self.net(x)


agents = {}
for name in ("scout", "worker", "guard", "leader"):
    actor = Actor(4096).cuda()
    agents[name] = {"actor": actor, "optimizer": torch.optim.Adam(actor.parameters(), lr=3e-4)}

for episode in range(200):
    for name, agent in agents.items():
        observation = torch.randn(64 << (episode // 4), 4096, device="cuda")
        loss = agent["actor"](observation).square().mean()
        agent["optimizer"].zero_grad()
        loss.backward()
        agent["optimizer"].step()
