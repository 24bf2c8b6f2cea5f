import random
from collections import namedtuple

import torch
import torch.nn.functional as F
from torch import nn

Transition = namedtuple("Transition", "state action reward next_state")


class ReplayMemory:
    def __init__(self, capacity):
        self.capacity = capacity
        self.memory = []
        self.position = 0

    def push(self, *args):
        if len(self.memory) < self.capacity:
            self.memory.append(None)
        self.memory[self.position] = Transition(*args)
        self.position = (self.position + 1) % self.capacity

    def sample(self, n):
        return random.sample(self.memory, n)

    def __len__(self):
        return len(self.memory)


class QNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(4, 16, 8, 4), nn.ReLU(), nn.Conv2d(16, 32, 4, 2), nn.ReLU(), nn.Flatten())
        self.fc = nn.Linear(2592, 6)

    def forward(self, x):
        return self.fc(self.conv(x))


memory = ReplayMemory(2000)
policy, target = QNetwork().cuda(), QNetwork().cuda()
target.load_state_dict(policy.state_dict())
optimizer = torch.optim.RMSprop(policy.parameters())
state = torch.rand(1, 4, 84, 84, device="cuda")
for frame in range(80):
    with torch.no_grad():
        action = policy(state).argmax(1, keepdim=True)
    following = torch.rand(1, 4, 84, 84, device="cuda")
    memory.push(state, action, torch.zeros(1, device="cuda"), following)
    state = following
    if len(memory) < 32:
        continue
    batch = Transition(*zip(*memory.sample(32)))
    q = policy(torch.cat(batch.state)).mean(1)
    with torch.no_grad():
        expected = torch.cat(batch.reward) + 0.99 * target(torch.cat(batch.next_state)).max(1).values
    loss = F.smooth_l1_loss(q, expected)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
