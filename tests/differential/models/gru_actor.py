import math
import torch
from torch import nn
import torch.nn.functional as F

envs, obs_dim, actions, hidden, horizon = 8, 12, 4, 64, 6


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs_dim, hidden), nn.Tanh())
        self.rnn = nn.LSTMCell(hidden, hidden)
        self.pi = nn.Linear(hidden, actions)
        self.v = nn.Linear(hidden, 1)
        for name, p in self.rnn.named_parameters():
            if "weight" in name:
                nn.init.orthogonal_(p)
            else:
                nn.init.constant_(p, 0.0)

    def forward(self, x, hx, cx):
        hx, cx = self.rnn(self.body(x), (hx, cx))
        return self.pi(hx), self.v(hx).squeeze(-1), hx, cx


net = ActorCritic().cuda()
opt = torch.optim.RMSprop(net.parameters(), lr=7e-4, eps=1e-5, alpha=0.99)
hx = torch.zeros(envs, hidden, device="cuda")
cx = torch.zeros(envs, hidden, device="cuda")
obs = torch.randn(envs, obs_dim, device="cuda")
mark("model")
for update in range(3):
    log_probs = []
    values = []
    rewards = []
    entropies = []
    masks = []
    hx = hx.detach()
    cx = cx.detach()
    for t in range(horizon):
        logits, value, hx, cx = net(obs, hx, cx)
        log_p = F.log_softmax(logits, dim=-1)
        probs = log_p.exp()
        action = torch.multinomial(probs, 1).detach()
        log_probs.append(log_p.gather(1, action).squeeze(1))
        entropies.append(-(log_p * probs).sum(1))
        values.append(value)
        obs = torch.randn(envs, obs_dim, device="cuda")
        rewards.append(torch.randn(envs, device="cuda"))
        mask = (torch.rand(envs, device="cuda") > 0.1).float()
        masks.append(mask)
        hx = hx * mask.unsqueeze(1)
        cx = cx * mask.unsqueeze(1)
    mark(f"rollout {update}")
    with torch.no_grad():
        _, last, _, _ = net(obs, hx, cx)
    values.append(last)
    policy_loss = 0
    value_loss = 0
    gae = torch.zeros(envs, device="cuda")
    R = last
    for t in reversed(range(horizon)):
        R = rewards[t] + 0.99 * R * masks[t]
        advantage = R - values[t]
        value_loss = value_loss + 0.5 * advantage.pow(2).mean()
        delta = rewards[t] + 0.99 * values[t + 1].detach() * masks[t] - values[t].detach()
        gae = gae * 0.99 * 0.95 * masks[t] + delta
        policy_loss = policy_loss - (log_probs[t] * gae).mean() - 0.01 * entropies[t].mean()
    opt.zero_grad()
    (policy_loss + 0.5 * value_loss).backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    opt.step()
    mark(f"update {update}")
