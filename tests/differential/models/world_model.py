import torch
from torch import nn
import torch.nn.functional as F

steps, batch, actions, stoch, deter = 6, 4, 3, 16, 48


class RSSM(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, 16, 4, stride=2), nn.ELU(), nn.Conv2d(16, 32, 4, stride=2), nn.ELU(), nn.Flatten(), nn.Linear(32 * 4, 64))
        self.img_in = nn.Linear(stoch + actions, deter)
        self.cell = nn.GRUCell(deter, deter)
        self.prior = nn.Sequential(nn.Linear(deter, 64), nn.ELU(), nn.Linear(64, 2 * stoch))
        self.post = nn.Sequential(nn.Linear(deter + 64, 64), nn.ELU(), nn.Linear(64, 2 * stoch))
        self.decoder_in = nn.Linear(deter + stoch, 64)
        self.decoder = nn.Sequential(nn.ConvTranspose2d(64, 32, 5, stride=2), nn.ELU(), nn.ConvTranspose2d(32, 3, 4, stride=2))
        self.reward = nn.Linear(deter + stoch, 1)

    def sample(self, stats):
        mean, std = stats.chunk(2, dim=-1)
        std = F.softplus(std) + 0.1
        return mean + std * torch.randn_like(std), mean, std

    def forward(self, obs, act):
        embed = self.encoder(obs.flatten(0, 1)).view(steps, batch, 64)
        h = torch.zeros(batch, deter, device="cuda")
        s = torch.zeros(batch, stoch, device="cuda")
        feats, kls = [], []
        for t in range(steps):
            x = F.elu(self.img_in(torch.cat([s, act[t]], dim=-1)))
            h = self.cell(x, h)
            _, pm, ps = self.sample(self.prior(h))
            s, qm, qs = self.sample(self.post(torch.cat([h, embed[t]], dim=-1)))
            kl = torch.log(ps / qs) + (qs ** 2 + (qm - pm) ** 2) / (2 * ps ** 2) - 0.5
            kls.append(kl.sum(-1))
            feats.append(torch.cat([h, s], dim=-1))
        feats = torch.stack(feats)
        rec = self.decoder(self.decoder_in(feats).view(-1, 64, 1, 1))
        return feats, rec.view(steps, batch, 3, 12, 12), self.reward(feats).squeeze(-1), torch.stack(kls)


model = RSSM().cuda()
actor = nn.Sequential(nn.Linear(deter + stoch, 64), nn.ELU(), nn.Linear(64, actions), nn.Tanh()).cuda()
critic = nn.Sequential(nn.Linear(deter + stoch, 64), nn.ELU(), nn.Linear(64, 1)).cuda()
model_opt = torch.optim.Adam(model.parameters(), lr=6e-4, eps=1e-7)
actor_opt = torch.optim.Adam(actor.parameters(), lr=8e-5)
critic_opt = torch.optim.Adam(critic.parameters(), lr=8e-5)
mark("models")
for step in range(2):
    obs = torch.rand(steps, batch, 3, 14, 14, device="cuda") - 0.5
    act = torch.rand(steps, batch, actions, device="cuda") * 2 - 1
    rew = torch.randn(steps, batch, device="cuda")
    feats, rec, pred, kls = model(obs, act)
    rec_loss = 0.5 * (rec - obs[..., 1:13, 1:13]).pow(2).sum((2, 3, 4)).mean()
    kl_loss = torch.clamp(kls, min=3.0).mean()
    loss = rec_loss + F.mse_loss(pred, rew) + kl_loss
    model_opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 100.0)
    model_opt.step()
    mark(f"model {step}")
    for p in model.parameters():
        p.requires_grad = False
    f = feats.detach().flatten(0, 1)
    h, s = f.split([deter, stoch], dim=-1)
    imagined = []
    rewards = []
    for t in range(4):
        a = actor(torch.cat([h, s], -1).detach())
        h = model.cell(F.elu(model.img_in(torch.cat([s, a], -1))), h)
        s, _, _ = model.sample(model.prior(h))
        state = torch.cat([h, s], -1)
        imagined.append(state)
        rewards.append(model.reward(state).squeeze(-1))
    states = torch.stack(imagined)
    values = critic(states).squeeze(-1)
    returns = []
    last = values[-1]
    for t in reversed(range(4)):
        last = rewards[t] + 0.99 * (0.05 * values[t] + 0.95 * last)
        returns.append(last)
    stacked = torch.stack(returns[::-1])
    actor_loss = -stacked.mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
    mark(f"actor {step}")
    value = critic(states.detach()).squeeze(-1)
    critic_loss = F.smooth_l1_loss(value, stacked.detach())
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()
    for p in model.parameters():
        p.requires_grad = True
    mark(f"critic {step}")
