import copy
import torch
from torch import nn
import torch.nn.functional as F


class Actor(nn.Module):
    def __init__(self, s, a):
        super().__init__()
        self.l1 = nn.Linear(s, 128)
        self.l2 = nn.Linear(128, 128)
        self.l3 = nn.Linear(128, a)

    def forward(self, x):
        x = F.relu(self.l1(x))
        x = F.relu(self.l2(x))
        return 2.0 * torch.tanh(self.l3(x))


class Critic(nn.Module):
    def __init__(self, s, a):
        super().__init__()
        self.l1 = nn.Linear(s + a, 128)
        self.l2 = nn.Linear(128, 1)
        self.l3 = nn.Linear(s + a, 128)
        self.l4 = nn.Linear(128, 1)

    def forward(self, s, a):
        sa = torch.cat([s, a], 1)
        q1 = self.l2(F.relu(self.l1(sa)))
        q2 = self.l4(F.relu(self.l3(sa)))
        return q1, q2

    def Q1(self, s, a):
        sa = torch.cat([s, a], 1)
        return self.l2(F.relu(self.l1(sa)))


actor = Actor(11, 3).cuda()
actor_target = copy.deepcopy(actor)
critic = Critic(11, 3).cuda()
critic_target = copy.deepcopy(critic)
actor_opt = torch.optim.Adam(actor.parameters(), lr=3e-4)
critic_opt = torch.optim.Adam(critic.parameters(), lr=3e-4)
buffer_s = torch.zeros(500, 11)
buffer_a = torch.zeros(500, 3)
buffer_r = torch.zeros(500, 1)
buffer_s2 = torch.zeros(500, 11)
buffer_d = torch.zeros(500, 1)
mark("models")
for i in range(8):
    state = torch.randn(1, 11)
    action = actor(state.to("cuda")).cpu().detach().flatten()
    buffer_s[i] = state[0]
    buffer_a[i] = action + 0.1 * torch.randn(3)
    buffer_d[i] = 0.0
mark("collected")
for step in range(4):
    ind = torch.randint(0, 500, (64,))
    state = buffer_s[ind].to("cuda")
    action = buffer_a[ind].to("cuda")
    next_state = buffer_s2[ind].to("cuda")
    reward = buffer_r[ind].to("cuda")
    not_done = (1.0 - buffer_d[ind]).to("cuda")
    with torch.no_grad():
        noise = (torch.randn_like(action) * 0.2).clamp(-0.5, 0.5)
        next_action = (actor_target(next_state) + noise).clamp(-2.0, 2.0)
        target1, target2 = critic_target(next_state, next_action)
        target = torch.min(target1, target2)
        target = reward + not_done * 0.99 * target
    q1, q2 = critic(state, action)
    critic_loss = F.mse_loss(q1, target) + F.mse_loss(q2, target)
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()
    mark(f"critic {step}")
    if step % 2 == 0:
        actor_loss = -critic.Q1(state, actor(state)).mean()
        actor_opt.zero_grad()
        actor_loss.backward()
        actor_opt.step()
        with torch.no_grad():
            for p, tp in zip(critic.parameters(), critic_target.parameters()):
                tp.lerp_(p, 0.005)
            for p, tp in zip(actor.parameters(), actor_target.parameters()):
                tp.mul_(0.995)
                tp.add_(0.005 * p)
        mark(f"actor {step}")
