import copy
import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F

policy = nn.Sequential(nn.Linear(128, 2048), nn.ReLU(), nn.Linear(2048, 18)).cuda()
target = copy.deepcopy(policy).requires_grad_(False)
optimizer = torch.optim.RMSprop(policy.parameters())
memory = deque(maxlen=256)
state = torch.randn(128, device="cuda")
for step in range(400):
    with torch.no_grad():
        action = policy(state).argmax().item() if step % 3 else random.randrange(18)
    following = torch.randn(128, device="cuda")
    memory.append((state, action, random.random(), following))
    state = following
    if len(memory) < 32:
        continue
    states, actions, rewards, followings = zip(*random.sample(memory, 32))
    q = policy(torch.stack(states)).gather(1, torch.tensor(actions, device="cuda")[:, None])[:, 0]
    with torch.no_grad():
        goal = torch.tensor(rewards, device="cuda") + 0.99 * target(torch.stack(followings)).max(1).values
    optimizer.zero_grad()
    F.smooth_l1_loss(q, goal).backward()
    optimizer.step()
    if step % 100 == 0:
        target.load_state_dict(policy.state_dict())
