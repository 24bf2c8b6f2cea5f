import torch
from torch import nn
import torch.nn.functional as F

width, heads, head_dim, vocab, mem_len, length = 48, 4, 12, 150, 10, 8


class PositionalEmbedding(nn.Module):
    def __init__(self):
        super().__init__()
        inv = 1 / (10000 ** (torch.arange(0.0, width, 2.0) / width))
        self.register_buffer("inv_freq", inv)

    def forward(self, positions):
        angles = torch.outer(positions, self.inv_freq)
        return torch.cat([angles.sin(), angles.cos()], dim=-1)[:, None, :]


class RelAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * heads * head_dim, bias=False)
        self.r = nn.Linear(width, heads * head_dim, bias=False)
        self.o = nn.Linear(heads * head_dim, width, bias=False)
        self.norm = nn.LayerNorm(width)
        self.drop = nn.Dropout(0.1)

    def shift(self, x):
        zero = torch.zeros((x.size(0), 1, x.size(2), x.size(3)), device=x.device, dtype=x.dtype)
        padded = torch.cat([zero, x], dim=1)
        padded = padded.view(x.size(1) + 1, x.size(0), x.size(2), x.size(3))
        return padded[1:].view_as(x)

    def forward(self, w, r, u, v, mask, mems):
        qlen, rlen, bsz = w.size(0), r.size(0), w.size(1)
        h = torch.cat([mems, w], 0)
        q, k, val = torch.chunk(self.qkv(h), 3, dim=-1)
        q = q[-qlen:]
        klen = k.size(0)
        q = q.view(qlen, bsz, heads, head_dim)
        k = k.view(klen, bsz, heads, head_dim)
        val = val.view(klen, bsz, heads, head_dim)
        rk = self.r(r).view(rlen, heads, head_dim)
        ac = torch.einsum("ibnd,jbnd->ijbn", q + u, k)
        bd = torch.einsum("ibnd,jnd->ijbn", q + v, rk)
        bd = self.shift(bd)
        score = (ac + bd) * (1 / head_dim ** 0.5)
        score = score.masked_fill(mask[:, :, None, None], -float("inf"))
        prob = self.drop(F.softmax(score, dim=1))
        vec = torch.einsum("ijbn,jbnd->ibnd", prob, val)
        vec = vec.contiguous().view(qlen, bsz, heads * head_dim)
        return self.norm(w + self.drop(self.o(vec)))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = RelAttention()
        self.ff = nn.Sequential(nn.Linear(width, 96), nn.ReLU(inplace=True), nn.Dropout(0.1), nn.Linear(96, width))
        self.norm = nn.LayerNorm(width)

    def forward(self, x, r, u, v, mask, mems):
        x = self.attn(x, r, u, v, mask, mems)
        return self.norm(x + self.ff(x))


class TransformerXL(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(vocab, width)
        self.pos = PositionalEmbedding()
        self.u = nn.Parameter(torch.randn(heads, head_dim))
        self.v = nn.Parameter(torch.randn(heads, head_dim))
        self.layers = nn.ModuleList([Layer() for _ in range(2)])
        self.out = nn.Linear(width, vocab)

    def forward(self, data, mems):
        qlen = data.size(0)
        mlen = mems[0].size(0)
        klen = mlen + qlen
        x = self.emb(data) * (width ** 0.5)
        mask = torch.triu(torch.ones(qlen, klen, dtype=torch.bool, device=x.device), diagonal=1 + mlen)
        r = self.pos(torch.arange(klen - 1, -1, -1.0, device=x.device))
        hids = [x]
        for i, layer in enumerate(self.layers):
            x = layer(x, r, self.u, self.v, mask, mems[i])
            hids.append(x)
        with torch.no_grad():
            new = []
            for i in range(2):
                joined = torch.cat([mems[i], hids[i]], dim=0)
                new.append(joined[-mem_len:].detach())
        return self.out(x), new


model = TransformerXL().cuda()
opt = torch.optim.Adam(model.parameters(), lr=2.5e-4)
mems = [torch.zeros(mem_len, 4, width, device="cuda") for _ in range(2)]
mark("model")
for step in range(3):
    data = torch.randint(0, vocab, (length, 4), device="cuda")
    target = torch.randint(0, vocab, (length, 4), device="cuda")
    logits, mems = model(data, mems)
    loss = F.cross_entropy(logits.view(-1, vocab), target.view(-1), reduction="none").view(length, 4).mean()
    mark(f"forward {step}")
    model.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    opt.step()
    mark(f"step {step}")
