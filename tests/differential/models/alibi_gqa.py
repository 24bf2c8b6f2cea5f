import math
import torch
from torch import nn
import torch.nn.functional as F


class RMSNorm(nn.Module):
    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x):
        dtype = x.dtype
        x = x.float()
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)
        return (self.weight * x).to(dtype)


class Attention(nn.Module):
    def __init__(self, width, heads, kv_heads, window):
        super().__init__()
        self.heads, self.kv_heads, self.window = heads, kv_heads, window
        self.size = width // heads
        self.q = nn.Linear(width, width, bias=False)
        self.kv = nn.Linear(width, 2 * kv_heads * self.size, bias=False)
        self.o = nn.Linear(width, width, bias=False)
        slopes = torch.tensor([math.pow(2.0, -8 * (i + 1) / heads) for i in range(heads)])
        self.register_buffer("slopes", slopes, persistent=False)

    def bias(self, t, device):
        position = torch.arange(t, device=device)
        distance = position[None, :] - position[:, None]
        allowed = (distance <= 0) & (distance > -self.window)
        bias = self.slopes[:, None, None] * distance[None]
        return bias.masked_fill(~allowed, float("-inf"))

    def forward(self, x):
        b, t, w = x.shape
        q = self.q(x).view(b, t, self.heads, self.size).transpose(1, 2)
        k, v = self.kv(x).view(b, t, 2, self.kv_heads, self.size).permute(2, 0, 3, 1, 4).unbind(0)
        k = k.repeat_interleave(self.heads // self.kv_heads, dim=1)
        v = v.repeat_interleave(self.heads // self.kv_heads, dim=1)
        bias = self.bias(t, x.device).to(q.dtype)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.unsqueeze(0), dropout_p=0.0)
        return self.o(y.transpose(1, 2).reshape(b, t, w))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.n1, self.n2 = RMSNorm(width), RMSNorm(width)
        self.attention = Attention(width, 8, 2, 16)
        self.gate_up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(2 * width, width, bias=False)

    def forward(self, x):
        x = x + self.attention(self.n1(x))
        gate, up = self.gate_up(self.n2(x)).chunk(2, dim=-1)
        return x + self.down(F.silu(gate) * up)


class LM(nn.Module):
    def __init__(self, vocabulary=300, width=128):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(2))
        self.norm = RMSNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, ids, labels=None):
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x)).float()
        if labels is None:
            return logits
        return F.cross_entropy(logits[:, :-1].reshape(-1, logits.size(-1)), labels[:, 1:].reshape(-1), ignore_index=-100)


model = LM().cuda().bfloat16()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
mark("model")
for step in range(2):
    ids = torch.randint(0, 300, (4, 64), device="cuda")
    labels = ids.clone()
    labels[:, :8] = -100
    loss = model(ids, labels)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    mark(f"step {step}")
