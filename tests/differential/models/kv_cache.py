import math
import torch
from torch import nn
import torch.nn.functional as F

vocab, dim, heads, layers, context = 256, 64, 4, 2, 32


class RotaryEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        inv_freq = 1.0 / (10000 ** (torch.arange(0, dim, 2).float() / dim))
        self.register_buffer("inv_freq", inv_freq, persistent=False)

    def forward(self, positions):
        freqs = torch.outer(positions.float(), self.inv_freq)
        emb = torch.cat((freqs, freqs), dim=-1)
        return emb.cos(), emb.sin()


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.proj = nn.Linear(dim, dim, bias=False)
        self.rope = RotaryEmbedding(dim // heads)

    def forward(self, x, past, start):
        b, t, _ = x.shape
        q, k, v = self.qkv(x).split(dim, dim=2)
        q = q.view(b, t, heads, dim // heads).transpose(1, 2)
        k = k.view(b, t, heads, dim // heads).transpose(1, 2)
        v = v.view(b, t, heads, dim // heads).transpose(1, 2)
        positions = torch.arange(start, start + t, device=x.device)
        cos, sin = self.rope(positions)
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        q = q.to(v.dtype)
        k = k.to(v.dtype)
        if past is not None:
            k = torch.cat([past[0], k], dim=2)
            v = torch.cat([past[1], v], dim=2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=past is None)
        y = y.transpose(1, 2).contiguous().view(b, t, dim)
        return self.proj(y), (k, v)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1 = nn.LayerNorm(dim)
        self.attn = Attention()
        self.ln2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(approximate="tanh"), nn.Linear(4 * dim, dim))

    def forward(self, x, past, start):
        a, present = self.attn(self.ln1(x), past, start)
        x = x + a
        x = x + self.mlp(self.ln2(x))
        return x, present


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(vocab, dim)
        self.blocks = nn.ModuleList([Block() for _ in range(layers)])
        self.ln = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab, bias=False)
        self.head.weight = self.wte.weight

    def forward(self, idx, caches, start):
        x = self.wte(idx)
        presents = []
        for i, block in enumerate(self.blocks):
            x, present = block(x, caches[i], start)
            presents.append(present)
        return self.head(self.ln(x)), presents


model = Model().half().cuda().eval()
mark("model")


@torch.no_grad()
def generate(prompt, new_tokens, temperature=0.9, top_k=20):
    caches = [None] * layers
    tokens = prompt
    idx = prompt
    start = 0
    for step in range(new_tokens):
        logits, caches = model(idx, caches, start)
        start += idx.shape[1]
        logits = logits[:, -1, :].float() / temperature
        v, _ = torch.topk(logits, top_k)
        logits[logits < v[:, [-1]]] = -float("inf")
        probs = F.softmax(logits, dim=-1)
        sorted_probs, sorted_idx = torch.sort(probs, descending=True)
        cumulative = torch.cumsum(sorted_probs, dim=-1)
        remove = cumulative - sorted_probs > 0.95
        sorted_probs = sorted_probs.masked_fill(remove, 0.0)
        sorted_probs = sorted_probs / sorted_probs.sum(dim=-1, keepdim=True)
        choice = torch.multinomial(sorted_probs, num_samples=1)
        idx = torch.gather(sorted_idx, -1, choice)
        tokens = torch.cat([tokens, idx], dim=1)
        mark(f"token {step}")
    return tokens


prompt = torch.randint(0, vocab, (2, 9), device="cuda")
out = generate(prompt, 6)
text = out.tolist()
mark("generated")
