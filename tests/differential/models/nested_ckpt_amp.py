import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


class Mlp(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.up = nn.Linear(d, 4 * d)
        self.drop = nn.Dropout(0.1)
        self.down = nn.Linear(4 * d, d)

    def forward(self, x):
        return self.down(self.drop(F.gelu(self.up(x))))


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.n1 = nn.LayerNorm(d)
        self.qkv = nn.Linear(d, 3 * d)
        self.proj = nn.Linear(d, d)
        self.n2 = nn.LayerNorm(d)
        self.mlp = Mlp(d)

    def attend(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q = q.view(b, t, 4, d // 4).transpose(1, 2)
        k = k.view(b, t, 4, d // 4).transpose(1, 2)
        v = v.view(b, t, 4, d // 4).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=0.1, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(b, t, d))

    def forward(self, x):
        x = x + checkpoint(self.attend, self.n1(x), use_reentrant=False)
        return x + checkpoint(self.mlp, self.n2(x), use_reentrant=False)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(500, 96)
        self.blocks = nn.ModuleList([Block(96) for _ in range(3)])
        self.norm = nn.LayerNorm(96)
        self.head = nn.Linear(96, 500)

    def forward(self, ids):
        x = self.embed(ids)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return self.head(self.norm(x))


model = Model().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
mark("model")
for step in range(3):
    ids = torch.randint(0, 500, (6, 40), device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        logits = model(ids)
        loss = F.cross_entropy(logits.flatten(0, 1), ids.flatten())
    mark(f"forward {step}")
    optimizer.zero_grad()
    loss.backward()
    mark(f"backward {step}")
    optimizer.step()
    mark(f"step {step}")
