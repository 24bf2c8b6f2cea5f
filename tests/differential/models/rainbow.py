import copy
import math
import torch
from torch import nn
import torch.nn.functional as F


class NoisyLinear(nn.Module):
    def __init__(self, i, o, std_init=0.5):
        super().__init__()
        self.i, self.o, self.std_init = i, o, std_init
        self.weight_mu = nn.Parameter(torch.empty(o, i))
        self.weight_sigma = nn.Parameter(torch.empty(o, i))
        self.register_buffer("weight_epsilon", torch.empty(o, i))
        self.bias_mu = nn.Parameter(torch.empty(o))
        self.bias_sigma = nn.Parameter(torch.empty(o))
        self.register_buffer("bias_epsilon", torch.empty(o))
        mu_range = 1 / math.sqrt(i)
        self.weight_mu.data.uniform_(-mu_range, mu_range)
        self.weight_sigma.data.fill_(std_init / math.sqrt(i))
        self.bias_mu.data.uniform_(-mu_range, mu_range)
        self.bias_sigma.data.fill_(std_init / math.sqrt(o))
        self.reset_noise()

    def scale_noise(self, size):
        x = torch.randn(size, device=self.weight_mu.device)
        return x.sign().mul_(x.abs().sqrt_())

    def reset_noise(self):
        epsilon_in = self.scale_noise(self.i)
        epsilon_out = self.scale_noise(self.o)
        self.weight_epsilon.copy_(epsilon_out.outer(epsilon_in))
        self.bias_epsilon.copy_(epsilon_out)

    def forward(self, x):
        if self.training:
            return F.linear(x, self.weight_mu + self.weight_sigma * self.weight_epsilon, self.bias_mu + self.bias_sigma * self.bias_epsilon)
        return F.linear(x, self.weight_mu, self.bias_mu)


class DQN(nn.Module):
    def __init__(self, actions, atoms):
        super().__init__()
        self.actions, self.atoms = actions, atoms
        self.convs = nn.Sequential(nn.Conv2d(4, 16, 5, stride=3), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU())
        self.fc_h_v = NoisyLinear(32 * 6 * 6, 32)
        self.fc_h_a = NoisyLinear(32 * 6 * 6, 32)
        self.fc_z_v = NoisyLinear(32, atoms)
        self.fc_z_a = NoisyLinear(32, actions * atoms)

    def forward(self, x, log=False):
        x = self.convs(x).view(-1, 32 * 6 * 6)
        v = self.fc_z_v(F.relu(self.fc_h_v(x)))
        a = self.fc_z_a(F.relu(self.fc_h_a(x)))
        v, a = v.view(-1, 1, self.atoms), a.view(-1, self.actions, self.atoms)
        q = v + a - a.mean(1, keepdim=True)
        if log:
            q = F.log_softmax(q, dim=2)
        else:
            q = F.softmax(q, dim=2)
        return q

    def noise(self):
        self.fc_h_v.reset_noise()
        self.fc_h_a.reset_noise()
        self.fc_z_v.reset_noise()
        self.fc_z_a.reset_noise()


atoms, actions, Vmin, Vmax, batch = 21, 4, -10, 10, 8
support = torch.linspace(Vmin, Vmax, atoms).to(device="cuda")
delta_z = (Vmax - Vmin) / (atoms - 1)
online = DQN(actions, atoms).cuda()
target = DQN(actions, atoms).cuda()
target.load_state_dict(online.state_dict())
for param in target.parameters():
    param.requires_grad = False
optimizer = torch.optim.Adam(online.parameters(), lr=6e-5, eps=1.5e-4)
mark("model")
for step in range(3):
    states = torch.randint(0, 256, (batch, 4, 45, 45), dtype=torch.uint8, device="cuda").to(dtype=torch.float32).div_(255)
    next_states = torch.randint(0, 256, (batch, 4, 45, 45), dtype=torch.uint8, device="cuda").to(dtype=torch.float32).div_(255)
    acts = torch.randint(0, actions, (batch,), device="cuda")
    returns = torch.randn(batch, device="cuda")
    nonterminals = torch.ones(batch, 1, device="cuda")
    weights = torch.rand(batch, device="cuda")
    rows = torch.arange(batch, device="cuda")
    log_ps = online(states, log=True)
    log_ps_a = log_ps[rows, acts]
    with torch.no_grad():
        pns = online(next_states)
        dns = support.expand_as(pns) * pns
        argmax_indices_ns = dns.sum(2).argmax(1)
        target.noise()
        pns = target(next_states)
        pns_a = pns[rows, argmax_indices_ns]
        Tz = returns.unsqueeze(1) + nonterminals * 0.97 * support.unsqueeze(0)
        Tz = Tz.clamp(min=Vmin, max=Vmax)
        b = (Tz - Vmin) / delta_z
        l, u = b.floor().to(torch.int64), b.ceil().to(torch.int64)
        l = torch.where((u > 0) & (l == u), l - 1, l).clamp(min=0)
        m = states.new_zeros(batch, atoms)
        offset = torch.linspace(0, (batch - 1) * atoms, batch).unsqueeze(1).expand(batch, atoms).to(acts)
        m.view(-1).index_add_(0, (l + offset).view(-1), (pns_a * (u.float() - b)).view(-1))
        m.view(-1).index_add_(0, (u + offset).view(-1), (pns_a * (b - l.float())).view(-1))
    loss = -torch.sum(m * log_ps_a, 1)
    online.zero_grad()
    (weights * loss).mean().backward()
    nn.utils.clip_grad_norm_(online.parameters(), 10.0)
    optimizer.step()
    priorities = loss.detach().cpu()
    online.noise()
    mark(f"learn {step}")
