import torch
from torch import nn
import torch.nn.functional as F


class CachedAttention(nn.Module):
    def __init__(self, dim, heads, kv_heads, length, batch):
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = heads, kv_heads, dim // heads
        self.q = nn.Linear(dim, dim, bias=False)
        self.k = nn.Linear(dim, kv_heads * self.head_dim, bias=False)
        self.v = nn.Linear(dim, kv_heads * self.head_dim, bias=False)
        self.o = nn.Linear(dim, dim, bias=False)
        self.register_buffer("cache_k", torch.zeros(batch, kv_heads, length, self.head_dim))
        self.register_buffer("cache_v", torch.zeros(batch, kv_heads, length, self.head_dim))

    def forward(self, x, start):
        b, t, d = x.shape
        q = self.q(x).view(b, t, self.heads, self.head_dim).transpose(1, 2)
        k = self.k(x).view(b, t, self.kv_heads, self.head_dim).transpose(1, 2)
        v = self.v(x).view(b, t, self.kv_heads, self.head_dim).transpose(1, 2)
        self.cache_k[:, :, start:start + t] = k
        self.cache_v[:, :, start:start + t] = v
        n = self.heads // self.kv_heads
        keys = self.cache_k[:, :, :start + t].repeat_interleave(n, dim=1)
        values = self.cache_v[:, :, :start + t].repeat_interleave(n, dim=1)
        scores = q @ keys.transpose(-2, -1) / self.head_dim ** 0.5
        if t > 1:
            causal = torch.full((t, t), float("-inf"), device="cuda", dtype=scores.dtype).triu(1)
            scores = scores + causal
        y = scores.softmax(dim=-1) @ values
        return self.o(y.transpose(1, 2).reshape(b, t, d))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(150, 56)
        self.attention = CachedAttention(56, 8, 2, 40, 6)
        self.mlp = nn.Sequential(nn.Linear(56, 100), nn.SiLU(), nn.Linear(100, 56))
        self.out = nn.Linear(56, 150)

    def forward(self, ids, start):
        x = self.embed(ids)
        x = x + self.attention(x, start)
        return self.out(x + self.mlp(x))[:, -1]


model = Decoder().cuda().half().eval()
prompt = torch.randint(0, 150, (6, 11), device="cuda")
mark("model")
with torch.inference_mode():
    logits = model(prompt, 0)
    tokens = prompt
    position = 11
    for step in range(6):
        logits = logits.float() / 0.8
        values, order = logits.sort(dim=-1, descending=True)
        probs = values.softmax(dim=-1)
        outside = probs.cumsum(dim=-1) - probs > 0.9
        probs = probs.masked_fill(outside, 0.0)
        probs = probs / probs.sum(dim=-1, keepdim=True)
        choice = torch.multinomial(probs, 1)
        token = order.gather(-1, choice)
        tokens = torch.cat([tokens, token], dim=1)
        logits = model(token, position)
        position += 1
        mark(f"token {step}")
text = tokens.tolist()
mark("decoded")
