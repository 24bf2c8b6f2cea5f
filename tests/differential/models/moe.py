import torch
from torch import nn
import torch.nn.functional as F


class Expert(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.w1 = nn.Linear(dim, hidden, bias=False)
        self.w2 = nn.Linear(hidden, dim, bias=False)
        self.w3 = nn.Linear(dim, hidden, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class SparseMoE(nn.Module):
    def __init__(self, dim, experts, k):
        super().__init__()
        self.count, self.k = experts, k
        self.gate = nn.Linear(dim, experts, bias=False)
        self.experts = nn.ModuleList([Expert(dim, 2 * dim) for _ in range(experts)])

    def forward(self, x):
        B, T, C = x.shape
        flat = x.view(-1, C)
        logits = self.gate(flat)
        probs = F.softmax(logits, dim=1, dtype=torch.float)
        weights, chosen = torch.topk(probs, self.k, dim=-1)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        mask = F.one_hot(chosen, num_classes=self.count)
        density = mask.float().sum(dim=1).mean(dim=0)
        aux = self.count * (density * probs.mean(dim=0)).sum()
        out = torch.zeros_like(flat)
        per_expert = flat.size(0) * self.k // self.count
        order = chosen.view(-1).argsort(stable=True)
        tokens = order // self.k
        flat_weights = weights.view(-1)
        for i, expert in enumerate(self.experts):
            mine = order[i * per_expert:(i + 1) * per_expert]
            ids = tokens[i * per_expert:(i + 1) * per_expert]
            h = expert(flat.index_select(0, ids)) * flat_weights[mine].unsqueeze(1)
            out.index_add_(0, ids, h.to(out.dtype))
        return out.view(B, T, C), aux


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(100, 32)
        self.norm = nn.LayerNorm(32)
        self.moe = SparseMoE(32, 4, 2)
        self.head = nn.Linear(32, 100)

    def forward(self, ids):
        x = self.emb(ids)
        h, aux = self.moe(self.norm(x))
        return self.head(x + h), aux


model = Model().cuda()
opt = torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-6)
mark("model")
for step in range(2):
    ids = torch.randint(0, 100, (4, 16), device="cuda")
    labels = torch.randint(0, 100, (4, 16), device="cuda")
    logits, aux = model(ids)
    loss = F.cross_entropy(logits.view(-1, 100), labels.view(-1)) + 0.01 * aux
    mark(f"forward {step}")
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    mark(f"step {step}")
