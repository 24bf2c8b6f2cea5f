import torch
from torch import nn
import torch.nn.functional as F


class Expert(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w1 = nn.Linear(d, 2 * d)
        self.w2 = nn.Linear(2 * d, d)

    def forward(self, x):
        return self.w2(F.gelu(self.w1(x)))


class MoE(nn.Module):
    def __init__(self, d, experts, capacity):
        super().__init__()
        self.capacity = capacity
        self.router = nn.Linear(d, experts, bias=False)
        self.experts = nn.ModuleList([Expert(d) for _ in range(experts)])

    def forward(self, x):
        probs = F.softmax(self.router(x).float(), dim=-1)
        gate, where = probs.t().topk(self.capacity, dim=1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            rows = where[i]
            y = expert(x.index_select(0, rows)) * gate[i].unsqueeze(-1).to(x.dtype)
            out = out.index_add(0, rows, y)
        balance = (probs.mean(dim=0) ** 2).sum() * 4
        return out, balance


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(30, 64)
        self.moe1 = MoE(64, 4, 12)
        self.moe2 = MoE(64, 4, 12)
        self.out = nn.Linear(64, 9)

    def forward(self, x):
        x = self.inp(x)
        a, b1 = self.moe1(x)
        x = x + a
        a, b2 = self.moe2(x)
        x = x + a
        return self.out(x), b1 + b2


model = Net().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
mark("model")
for step in range(3):
    x = torch.randn(40, 30, device="cuda")
    y = torch.randint(0, 9, (40,), device="cuda")
    out, balance = model(x)
    loss = F.cross_entropy(out, y) + 0.01 * balance
    mark(f"forward {step}")
    optimizer.zero_grad()
    loss.backward()
    mark(f"backward {step}")
    optimizer.step()
    mark(f"step {step}")
