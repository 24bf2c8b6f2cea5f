import math
import torch
from torch import nn
import torch.nn.functional as F


class Mamba(nn.Module):
    def __init__(self, d, state, conv):
        super().__init__()
        self.inner, self.state, self.rank = 2 * d, state, math.ceil(d / 16)
        self.in_proj = nn.Linear(d, 2 * self.inner, bias=False)
        self.conv1d = nn.Conv1d(self.inner, self.inner, conv, groups=self.inner, padding=conv - 1)
        self.x_proj = nn.Linear(self.inner, self.rank + 2 * state, bias=False)
        self.dt_proj = nn.Linear(self.rank, self.inner)
        A = torch.arange(1, state + 1, dtype=torch.float32).repeat(self.inner, 1)
        self.A_log = nn.Parameter(torch.log(A))
        self.D = nn.Parameter(torch.ones(self.inner))
        self.out_proj = nn.Linear(self.inner, d, bias=False)

    def forward(self, x):
        b, l, d = x.shape
        x, res = self.in_proj(x).split([self.inner, self.inner], dim=-1)
        x = x.transpose(1, 2)
        x = self.conv1d(x)[:, :, :l]
        x = F.silu(x.transpose(1, 2))
        y = self.ssm(x)
        return self.out_proj(y * F.silu(res))

    def ssm(self, x):
        A = -torch.exp(self.A_log.float())
        delta, B, C = self.x_proj(x).split([self.rank, self.state, self.state], dim=-1)
        delta = F.softplus(self.dt_proj(delta))
        deltaA = torch.exp(torch.einsum("bld,dn->bldn", delta, A))
        deltaB_u = torch.einsum("bld,bln,bld->bldn", delta, B, x)
        h = torch.zeros(x.size(0), self.inner, self.state, device=x.device)
        ys = []
        for i in range(x.size(1)):
            h = deltaA[:, i] * h + deltaB_u[:, i]
            ys.append(torch.einsum("bdn,bn->bd", h, C[:, i, :]))
        y = torch.stack(ys, dim=1)
        return y + x * self.D


class Retention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.q = nn.Linear(d, d, bias=False)
        self.k = nn.Linear(d, d, bias=False)
        self.v = nn.Linear(d, d, bias=False)
        self.g = nn.Linear(d, d, bias=False)
        self.o = nn.Linear(d, d, bias=False)
        self.norm = nn.GroupNorm(heads, d)
        self.register_buffer("gamma", 1 - torch.exp(torch.linspace(math.log(1 / 32), math.log(1 / 512), heads)))

    def forward(self, x):
        b, t, d = x.shape
        q = self.q(x).view(b, t, self.heads, -1).transpose(1, 2)
        k = self.k(x).view(b, t, self.heads, -1).transpose(1, 2) / math.sqrt(d // self.heads)
        v = self.v(x).view(b, t, self.heads, -1).transpose(1, 2)
        n = torch.arange(t, device=x.device).unsqueeze(1)
        m = torch.arange(t, device=x.device).unsqueeze(0)
        D = torch.where(n >= m, self.gamma.view(-1, 1, 1) ** (n - m).clamp(min=0), 0.0)
        D = D / D.sum(dim=-1, keepdim=True).sqrt()
        qk = q @ k.transpose(-1, -2) * D
        qk = qk / qk.detach().abs().sum(dim=-1, keepdim=True).clamp(min=1)
        out = (qk @ v).transpose(1, 2).reshape(b * t, d)
        out = self.norm(out).view(b, t, d)
        return self.o(F.silu(self.g(x)) * out)


class RMSNorm(nn.Module):
    def __init__(self, d, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


class Layer(nn.Module):
    def __init__(self, d, mixer):
        super().__init__()
        self.norm = RMSNorm(d)
        self.mixer = mixer

    def forward(self, x):
        return self.mixer(self.norm(x)) + x


class Net(nn.Module):
    def __init__(self, vocab, d):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d)
        self.layers = nn.ModuleList([Layer(d, Mamba(d, 8, 4)), Layer(d, Retention(d, 4)), Layer(d, Mamba(d, 8, 4))])
        self.norm_f = RMSNorm(d)
        self.lm_head = nn.Linear(d, vocab, bias=False)
        self.lm_head.weight = self.embedding.weight

    def forward(self, ids):
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.norm_f(x))


model = Net(70, 32).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95))
mark("model")
for step in range(2):
    ids = torch.randint(0, 70, (2, 11), device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16, enabled=step == 1):
        logits = model(ids[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, 70).float(), ids[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mark(f"step {step}")
