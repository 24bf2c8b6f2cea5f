import torch
import torch.nn as nn


class Buffer:
    def __init__(self):
        self.observations, self.log_probs, self.rewards = [], [], []

    def add(self, observation, log_prob, reward):
        self.observations.append(observation)
        self.log_probs.append(log_prob)
        self.rewards.append(reward)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4096, 1024), nn.Tanh(), nn.Linear(1024, 64))

    def act(self, x):
        distribution = torch.distributions.Categorical(logits=self.net(x))
        action = distribution.sample()
        return action, distribution.log_prob(action)


agent = Agent().cuda()
optimizer = torch.optim.Adam(agent.parameters())
buffer = Buffer()
for update in range(60):
    for step in range(8):
        observation = torch.randn(64, 4096, device="cuda")
        action, log_prob = agent.act(observation)
        buffer.add(observation, log_prob, torch.ones(64, device="cuda"))
    # The buffer is never cleared.
    loss = -(torch.stack(buffer.log_probs[-8:]) * torch.stack(buffer.rewards[-8:])).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
