import torch
from torch import nn
import torch.nn.functional as F


class ActorCritic(nn.Module):
    def __init__(self, observations=8, actions=4, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(observations, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.actor = nn.Linear(hidden, actions)
        self.critic = nn.Linear(hidden, 1)
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.orthogonal_(m.weight, gain=1.41)
                nn.init.constant_(m.bias, 0.0)

    def forward(self, x):
        h = self.body(x)
        return F.log_softmax(self.actor(h), dim=-1), self.critic(h).squeeze(-1)


steps, envs = 8, 4
model = ActorCritic().cuda()
opt = torch.optim.Adam(model.parameters(), lr=2.5e-4, eps=1e-5)
obs = torch.zeros(steps, envs, 8, device="cuda")
actions = torch.zeros(steps, envs, dtype=torch.long, device="cuda")
logprobs = torch.zeros(steps, envs, device="cuda")
rewards = torch.zeros(steps, envs, device="cuda")
dones = torch.zeros(steps, envs, device="cuda")
values = torch.zeros(steps, envs, device="cuda")
mark("storage")
for update in range(2):
    state = torch.randn(envs, 8, device="cuda")
    done = torch.zeros(envs, device="cuda")
    for t in range(steps):
        obs[t] = state
        dones[t] = done
        with torch.no_grad():
            logp, value = model(state)
            action = torch.multinomial(logp.exp(), 1).squeeze(-1)
            values[t] = value
        actions[t] = action
        logprobs[t] = logp.gather(-1, action.unsqueeze(-1)).squeeze(-1)
        state = torch.randn(envs, 8).cuda()
        rewards[t] = torch.randn(envs).cuda()
    mark(f"rollout {update}")
    with torch.no_grad():
        _, following = model(state)
        advantages = torch.zeros_like(rewards)
        last = 0
        for t in reversed(range(steps)):
            if t == steps - 1:
                nonterminal = 1.0 - done
                nextvalue = following
            else:
                nonterminal = 1.0 - dones[t + 1]
                nextvalue = values[t + 1]
            delta = rewards[t] + 0.99 * nextvalue * nonterminal - values[t]
            last = delta + 0.99 * 0.95 * nonterminal * last
            advantages[t] = last
        returns = advantages + values
    mark(f"advantages {update}")
    b_obs = obs.reshape(-1, 8)
    b_actions = actions.reshape(-1)
    b_logprobs = logprobs.reshape(-1)
    b_adv = advantages.reshape(-1)
    b_returns = returns.reshape(-1)
    permutation = torch.randperm(steps * envs, device="cuda")
    for start in range(0, steps * envs, 16):
        mb = permutation[start:start + 16]
        logp, value = model(b_obs[mb])
        new = logp.gather(1, b_actions[mb].unsqueeze(1)).squeeze(1)
        entropy = -(logp.exp() * logp).sum(-1).mean()
        ratio = (new - b_logprobs[mb]).exp()
        adv = b_adv[mb]
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        pg1 = -adv * ratio
        pg2 = -adv * torch.clamp(ratio, 0.8, 1.2)
        pg_loss = torch.max(pg1, pg2).mean()
        v_loss = 0.5 * ((value - b_returns[mb]) ** 2).mean()
        loss = pg_loss - 0.01 * entropy + 0.5 * v_loss
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        opt.step()
    mark(f"update {update}")
