import torch
from torch import nn
import torch.nn.functional as F


class Expert(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.w1 = nn.Linear(dim, 2 * dim, bias=False)
        self.w2 = nn.Linear(2 * dim, dim, bias=False)
        self.w3 = nn.Linear(dim, 2 * dim, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class SwitchLayer(nn.Module):
    def __init__(self, dim, experts):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.router = nn.Linear(dim, experts)
        self.experts = nn.ModuleList([Expert(dim) for i in range(experts)])
        self.shared = Expert(dim)

    def forward(self, x, assigned):
        b, t, d = x.shape
        flat = self.norm(x).view(-1, d)
        probs = self.router(flat).float().softmax(dim=-1)
        gate, index = probs.max(dim=-1)
        out = torch.zeros_like(flat)
        for e, expert in enumerate(self.experts):
            rows = assigned[e]
            y = expert(flat[rows]) * gate[rows].unsqueeze(-1)
            out.index_add_(0, rows, y.to(out.dtype))
        load = F.one_hot(index, probs.size(-1)).float().mean(0)
        aux = probs.size(-1) * (load * probs.mean(0)).sum()
        z = torch.logsumexp(self.router(flat), dim=-1).square().mean()
        return x + (out + self.shared(flat)).view(b, t, d), aux + 0.001 * z


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(140, 40)
        self.l1 = SwitchLayer(40, 3)
        self.l2 = SwitchLayer(40, 3)
        self.head = nn.Linear(40, 140)

    def forward(self, ids, assigned):
        x = self.embed(ids)
        x, a1 = self.l1(x, assigned)
        x, a2 = self.l2(x, assigned)
        return self.head(x), a1 + a2


model = Model().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
mark("model")
for step in range(3):
    ids = torch.randint(0, 140, (4, 19), device="cuda")
    order = torch.randperm(4 * 18, device="cuda")
    assigned = order.split([30, 5 + step, 37 - step])
    with torch.autocast("cuda", dtype=torch.bfloat16, enabled=step > 0):
        logits, aux = model(ids[:, :-1], assigned)
        loss = F.cross_entropy(logits.reshape(-1, 140), ids[:, 1:].reshape(-1)) + 0.01 * aux
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mark(f"step {step}")
