import torch
import torch.nn as nn
import torch.nn.functional as F

actor = nn.Sequential(nn.Linear(64, 512), nn.Tanh(), nn.Linear(512, 8)).cuda()
critic = nn.Sequential(nn.Linear(64, 512), nn.Tanh(), nn.Linear(512, 1)).cuda()
opt = torch.optim.Adam(list(actor.parameters()) + list(critic.parameters()))
for it in range(5):
    states, logs, values = [], [], []
    with torch.no_grad():
        for t in range(64):
            s = torch.randn(256, 64, device="cuda")
            d = torch.distributions.Categorical(logits=actor(s))
            a = d.sample()
            states.append((s, a))
            logs.append(d.log_prob(a))
            values.append(critic(s))
    S = torch.cat([s for s, _ in states])
    A = torch.cat([a for _, a in states])
    L = torch.cat(logs)
    for epoch in range(4):
        for idx in torch.randperm(S.shape[0], device="cuda").split(4096):
            d = torch.distributions.Categorical(logits=actor(S[idx]))
            ratio = (d.log_prob(A[idx]) - L[idx]).exp()
            loss = -ratio.mean() + (critic(S[idx]) ** 2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
