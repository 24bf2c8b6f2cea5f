import torch
from torch import nn
import torch.nn.functional as F


class LoRALinear(nn.Module):
    def __init__(self, base, r=4, alpha=8, dropout=0.05):
        super().__init__()
        self.base = base
        self.scaling = alpha / r
        self.dropout = nn.Dropout(dropout)
        self.A = nn.Parameter(torch.empty(r, base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.A, a=5 ** 0.5)

    def forward(self, x):
        result = self.base(x)
        return result + (self.dropout(x) @ self.A.t() @ self.B.t()) * self.scaling


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(dim)
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)
        self.o = nn.Linear(dim, dim)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        B, T, C = x.shape
        h = self.norm1(x)
        q = self.q(h).view(B, T, self.heads, -1).transpose(1, 2)
        k = self.k(h).view(B, T, self.heads, -1).transpose(1, 2)
        v = self.v(h).view(B, T, self.heads, -1).transpose(1, 2)
        h = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(B, T, C)
        x = x + self.o(h)
        return x + self.mlp(self.norm2(x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(100, 48)
        self.blocks = nn.ModuleList([Block(48, 4) for _ in range(2)])
        self.norm = nn.LayerNorm(48)
        self.head = nn.Linear(48, 100, bias=False)

    def forward(self, ids):
        x = self.emb(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


model = Model()
for p in model.parameters():
    p.requires_grad = False
for block in model.blocks:
    block.q = LoRALinear(block.q)
    block.v = LoRALinear(block.v)
model.cuda()
trainable = [p for p in model.parameters() if p.requires_grad]
opt = torch.optim.AdamW(trainable, lr=2e-4)
mark("model")
for step in range(2):
    ids = torch.randint(0, 100, (4, 16), device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        logits = model(ids)
        loss = F.cross_entropy(logits[:, :-1].reshape(-1, 100), ids[:, 1:].reshape(-1))
    mark(f"forward {step}")
    loss.backward()
    torch.nn.utils.clip_grad_norm_(trainable, 0.3)
    opt.step()
    opt.zero_grad()
    mark(f"step {step}")
with torch.no_grad():
    for block in model.blocks:
        block.q.base.weight += block.q.B @ block.q.A * block.q.scaling
        block.v.base.weight += block.v.B @ block.v.A * block.v.scaling
mark("merged")
