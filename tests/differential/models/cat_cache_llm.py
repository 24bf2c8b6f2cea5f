import torch
from torch import nn
import torch.nn.functional as F


class RMSNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))

    def forward(self, x):
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * h.to(x.dtype)


class Layer(nn.Module):
    def __init__(self, d, heads, groups):
        super().__init__()
        self.heads = heads
        self.groups = groups
        self.size = d // heads
        self.n1 = RMSNorm(d)
        self.q = nn.Linear(d, d, bias=False)
        self.k = nn.Linear(d, groups * self.size, bias=False)
        self.v = nn.Linear(d, groups * self.size, bias=False)
        self.o = nn.Linear(d, d, bias=False)
        self.n2 = RMSNorm(d)
        self.gate = nn.Linear(d, 3 * d, bias=False)
        self.up = nn.Linear(d, 3 * d, bias=False)
        self.down = nn.Linear(3 * d, d, bias=False)

    def forward(self, x, pk, pv):
        b, t, d = x.shape
        h = self.n1(x)
        q = self.q(h).view(b, t, self.heads, self.size).transpose(1, 2)
        k = self.k(h).view(b, t, self.groups, self.size).transpose(1, 2)
        v = self.v(h).view(b, t, self.groups, self.size).transpose(1, 2)
        if pk is not None:
            k = torch.cat([pk, k], dim=2)
            v = torch.cat([pv, v], dim=2)
        kk = k.repeat_interleave(self.heads // self.groups, dim=1)
        vv = v.repeat_interleave(self.heads // self.groups, dim=1)
        y = F.scaled_dot_product_attention(q, kk, vv, is_causal=pk is None)
        x = x + self.o(y.transpose(1, 2).reshape(b, t, d))
        h = self.n2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h)), k, v


embed = nn.Embedding(400, 128).cuda().half()
first = Layer(128, 8, 2).cuda().half()
second = Layer(128, 8, 2).cuda().half()
norm = RMSNorm(128).cuda().half()
mark("model")
with torch.no_grad():
    ids = torch.randint(0, 400, (3, 17), device="cuda")
    k1, v1, k2, v2 = None, None, None, None
    for step in range(5):
        x = embed(ids)
        x, k1, v1 = first(x, k1, v1)
        x, k2, v2 = second(x, k2, v2)
        logits = F.linear(norm(x[:, -1:]), embed.weight).float()
        logits = logits[:, -1]
        kept, index = logits.topk(40, dim=-1)
        sorted_probs, order = torch.sort(F.softmax(kept / 0.7, dim=-1), descending=True)
        cut = torch.cumsum(sorted_probs, dim=-1) > 0.9
        sorted_probs = sorted_probs.masked_fill(cut, 0.0)
        pick = torch.multinomial(sorted_probs, 1)
        ids = index.gather(1, order.gather(1, pick))
        mark(f"token {step}")
    torch.cuda.empty_cache()
mark("done")
