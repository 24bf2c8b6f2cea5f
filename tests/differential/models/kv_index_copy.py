import torch
from torch import nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, d, heads, length):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(d, 3 * d, bias=False)
        self.out = nn.Linear(d, d, bias=False)
        self.register_buffer("keys", torch.zeros(2, heads, length, d // heads), persistent=False)
        self.register_buffer("values", torch.zeros(2, heads, length, d // heads), persistent=False)

    def forward(self, x, positions, mask):
        b, t, d = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q = q.view(b, t, self.heads, d // self.heads).transpose(1, 2)
        k = k.view(b, t, self.heads, d // self.heads).transpose(1, 2)
        v = v.view(b, t, self.heads, d // self.heads).transpose(1, 2)
        self.keys.index_copy_(2, positions, k)
        self.values.index_copy_(2, positions, v)
        y = F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=mask)
        return self.out(y.transpose(1, 2).reshape(b, t, d))


class Block(nn.Module):
    def __init__(self, d, heads, length):
        super().__init__()
        self.n1 = nn.LayerNorm(d)
        self.attn = Attention(d, heads, length)
        self.n2 = nn.LayerNorm(d)
        self.up = nn.Linear(d, 4 * d)
        self.down = nn.Linear(4 * d, d)

    def forward(self, x, positions, mask):
        x = x + self.attn(self.n1(x), positions, mask)
        return x + self.down(F.silu(self.up(self.n2(x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(256, 64)
        self.pos = nn.Embedding(48, 64)
        self.blocks = nn.ModuleList([Block(64, 4, 48) for _ in range(2)])
        self.norm = nn.LayerNorm(64)
        self.head = nn.Linear(64, 256, bias=False)
        self.register_buffer("causal", torch.tril(torch.ones(48, 48, dtype=torch.bool)))

    def forward(self, ids, positions):
        x = self.embed(ids) + self.pos(positions)
        mask = self.causal[None, None, positions]
        for block in self.blocks:
            x = block(x, positions, mask)
        return self.head(self.norm(x[:, -1]))


model = Model().to("cuda", torch.float16).eval()
mark("model")
with torch.no_grad():
    ids = torch.randint(0, 256, (2, 10), device="cuda")
    positions = torch.arange(10, device="cuda")
    logits = model(ids, positions)
    mark("prefill")
    tokens = [ids]
    for step in range(5):
        probs = F.softmax(logits.float() / 0.8, dim=-1)
        nxt = torch.multinomial(probs, 1)
        tokens.append(nxt)
        positions = torch.tensor([10 + step], device="cuda")
        logits = model(nxt, positions)
        mark(f"token {step}")
    text = torch.cat(tokens, dim=1).cpu()
mark("done")
