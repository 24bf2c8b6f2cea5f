import torch
import torch.nn as nn
import torch.nn.functional as F

import random
class Agent:
    def __init__(self):
        self.q = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 4)).cuda()
        self.memory = []
        self.opt = torch.optim.Adam(self.q.parameters())

    def act(self, state):
        with torch.no_grad():
            return self.q(state).argmax(1)

    def remember(self, *transition):
        self.memory.append(transition)

    def learn(self):
        batch = random.sample(self.memory, 4)
        loss = sum((self.q(s).gather(1, a[:, None]).squeeze(1) - r).pow(2).mean() for s, a, r in batch)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()

agent = Agent()
for t in range(20000):
    state = torch.randn(4096, 64, device="cuda")
    action = agent.act(state)
    reward = torch.randn(4096, device="cuda")
    agent.remember(state, action, reward)
    if t > 8 and t % 4 == 0:
        agent.learn()
