import math
import torch
from torch import nn
import torch.nn.functional as F


class Longformer(nn.Module):
    def __init__(self, dim, heads, window):
        super().__init__()
        self.heads, self.window = heads, window
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)

    def blocks_of(self, x):
        b, t, h = x.size()
        w = self.window
        x = x.view(b, t // (w * 2), w * 2, h)
        size = list(x.size())
        size[1] = size[1] * 2 - 1
        stride = list(x.stride())
        stride[1] = stride[1] // 2
        return x.as_strided(size, stride)

    def forward(self, x):
        b, t, d = x.shape
        w, h = self.window, self.heads
        q = self.query(x) / math.sqrt(d // h)
        q = q.view(b, t, h, d // h).transpose(1, 2).reshape(b * h, t, d // h)
        k = self.key(x).view(b, t, h, d // h).transpose(1, 2).reshape(b * h, t, d // h)
        v = self.value(x).view(b, t, h, d // h).transpose(1, 2).reshape(b * h, t, d // h)
        cq, ck = self.blocks_of(q), self.blocks_of(k)
        scores = torch.einsum("bcxd,bcyd->bcxy", cq, ck)
        scores = F.pad(scores, (0, 0, 0, 1))
        scores = scores.view(scores.size(0), scores.size(1), scores.size(3), scores.size(2))
        n = t // w - 1
        band = scores.new_empty(b * h, n + 1, w, w * 2 + 1)
        band[:, :-1, :, w:] = scores[:, :, :w, : w + 1]
        band[:, -1, :, w:] = scores[:, -1, w:, : w + 1]
        band[:, 1:, :, :w] = scores[:, :, -(w + 1): -1, w + 1:]
        band[:, 0, 1:w, 1:w] = scores[:, 0, : w - 1, 1 - w:]
        attn = band.view(b, h, t, 2 * w + 1).transpose(2, 1)
        start = torch.ones(w, w + 1, device=x.device).tril().flip(dims=[0])
        start = start[None, :, None, :].expand(b, w, h, w + 1)
        attn[:, :w, :, : w + 1].masked_fill_(start == 1, -1e9)
        attn = F.softmax(attn, dim=-1, dtype=torch.float32).type_as(attn)
        attn = F.dropout(attn, p=0.1, training=self.training)
        p = attn.transpose(1, 2).reshape(b * h, t // w, w, 2 * w + 1)
        padded = F.pad(v, (0, 0, w, w), value=-1)
        s0, s1, s2 = padded.stride()
        cv = padded.as_strided(size=(b * h, n + 1, 3 * w, d // h), stride=(s0, w * s1, s1, s2))
        total, nc, wl, hd = p.size()
        p = F.pad(p, (0, w + 1)).view(total, nc, -1)[:, :, :-w].view(total, nc, w, hd + w)[:, :, :, :-1]
        out = torch.einsum("bcwd,bcdh->bcwh", p, cv)
        return out.view(b, h, t, d // h).transpose(1, 2).reshape(b, t, d)


class LSHAttention(nn.Module):
    def __init__(self, dim, heads, buckets, chunk):
        super().__init__()
        self.heads, self.buckets, self.chunk = heads, buckets, chunk
        self.qk = nn.Linear(dim, dim, bias=False)
        self.v = nn.Linear(dim, dim, bias=False)
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        b, t, d = x.shape
        h = self.heads
        qk = self.qk(x).view(b, t, h, -1).transpose(1, 2).reshape(b * h, t, -1)
        v = self.v(x).view(b, t, h, -1).transpose(1, 2).reshape(b * h, t, -1)
        with torch.no_grad():
            rot = torch.randn(d // h, self.buckets // 2, device=x.device)
            rotated = qk.detach() @ rot
            bucket = torch.cat([rotated, -rotated], dim=-1).argmax(dim=-1)
            key = bucket * t + torch.arange(t, device=x.device)
            _, order = key.sort(dim=-1)
            _, undo = order.sort(dim=-1)
        sqk = qk.gather(1, order.unsqueeze(-1).expand_as(qk))
        sv = v.gather(1, order.unsqueeze(-1).expand_as(v))
        c = self.chunk
        bq = sqk.view(b * h, t // c, c, -1)
        bk = F.normalize(bq, p=2, dim=-1)
        bv = sv.view(b * h, t // c, c, -1)
        bk = torch.cat([bk, torch.roll(bk, 1, dims=1)], dim=2)
        bv = torch.cat([bv, torch.roll(bv, 1, dims=1)], dim=2)
        dots = torch.einsum("bnid,bnjd->bnij", bq, bk) * (d // h) ** -0.5
        lse = torch.logsumexp(dots, dim=-1, keepdim=True)
        probs = torch.exp(dots - lse)
        so = torch.einsum("bnij,bnjd->bnid", probs, bv).reshape(b * h, t, -1)
        o = so.gather(1, undo.unsqueeze(-1).expand_as(so))
        return self.out(o.view(b, h, t, -1).transpose(1, 2).reshape(b, t, d))


class ReversibleBlock(nn.Module):
    def __init__(self, f, g):
        super().__init__()
        self.f = f
        self.g = g

    def forward(self, x):
        x1, x2 = torch.chunk(x, 2, dim=2)
        y1 = x1 + self.f(x2)
        y2 = x2 + self.g(y1)
        return torch.cat([y1, y2], dim=2)


ff = nn.Sequential(nn.LayerNorm(32), nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 32))
net = nn.Sequential(nn.Embedding(50, 64), ReversibleBlock(Longformer(32, 4, 4), ff), ReversibleBlock(LSHAttention(32, 2, 4, 8), nn.Linear(32, 32)), nn.LayerNorm(64), nn.Linear(64, 50)).cuda()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
mark("model")
for step in range(2):
    ids = torch.randint(0, 50, (2, 32), device="cuda")
    loss = F.cross_entropy(net(ids).flatten(0, 1), ids.roll(-1, dims=1).flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mark(f"step {step}")
