import torch
from torch import nn
import torch.nn.functional as F


class MAB(nn.Module):
    def __init__(self, dim_q, dim_k, dim_v, heads):
        super().__init__()
        self.dim_v = dim_v
        self.heads = heads
        self.fc_q = nn.Linear(dim_q, dim_v)
        self.fc_k = nn.Linear(dim_k, dim_v)
        self.fc_v = nn.Linear(dim_k, dim_v)
        self.ln0 = nn.LayerNorm(dim_v)
        self.ln1 = nn.LayerNorm(dim_v)
        self.fc_o = nn.Linear(dim_v, dim_v)

    def forward(self, q, k):
        q = self.fc_q(q)
        k, v = self.fc_k(k), self.fc_v(k)
        split = self.dim_v // self.heads
        q_ = torch.cat(q.split(split, 2), 0)
        k_ = torch.cat(k.split(split, 2), 0)
        v_ = torch.cat(v.split(split, 2), 0)
        a = torch.softmax(q_.bmm(k_.transpose(1, 2)) / 8.0, 2)
        o = torch.cat((q_ + a.bmm(v_)).split(q.size(0), 0), 2)
        o = self.ln0(o)
        o = o + F.relu(self.fc_o(o))
        o = self.ln1(o)
        return o


class ISAB(nn.Module):
    def __init__(self, dim_in, dim, heads, inducing):
        super().__init__()
        self.I = nn.Parameter(torch.Tensor(1, inducing, dim))
        nn.init.xavier_uniform_(self.I)
        self.mab0 = MAB(dim, dim_in, dim, heads)
        self.mab1 = MAB(dim_in, dim, dim, heads)

    def forward(self, x):
        h = self.mab0(self.I.repeat(x.size(0), 1, 1), x)
        return self.mab1(x, h)


class Perceiver(nn.Module):
    def __init__(self):
        super().__init__()
        self.isab = ISAB(6, 64, 4, 8)
        self.latents = nn.Parameter(torch.randn(12, 64))
        self.cross = nn.MultiheadAttention(64, 4, batch_first=True)
        self.norm = nn.LayerNorm(64)
        self.ff = nn.Sequential(nn.Linear(64, 128 * 2), nn.GLU(dim=-1), nn.Linear(128, 64))
        self.self_attn = nn.MultiheadAttention(64, 4, dropout=0.1, batch_first=True)
        self.decoder_query = nn.Parameter(torch.randn(3, 64))
        self.decode = nn.MultiheadAttention(64, 1, batch_first=True)
        self.out = nn.Linear(64, 2)

    def forward(self, x):
        b = x.size(0)
        ctx = self.isab(x)
        z = self.latents.unsqueeze(0).expand(b, -1, -1)
        for i in range(2):
            a, _ = self.cross(self.norm(z), ctx, ctx, need_weights=False)
            z = z + a
            n = self.norm(z)
            a, w = self.self_attn(n, n, n, average_attn_weights=False)
            z = z + a
            z = z + self.ff(self.norm(z))
        q = self.decoder_query.expand(b, -1, -1)
        d, _ = self.decode(q, z, z)
        return self.out(d), w


model = Perceiver().cuda()
optimizer = torch.optim.RAdam(model.parameters(), lr=1e-3)
mark("model")
for step in range(3):
    x = torch.randn(4, 30, 6, device="cuda")
    target = torch.randn(4, 3, 2, device="cuda")
    pred, w = model(x)
    cost = (pred.unsqueeze(2) - target.unsqueeze(1)).norm(dim=-1)
    chamfer = cost.min(1)[0].mean() + cost.min(2)[0].mean()
    loss = chamfer + 0.01 * w.pow(2).mean()
    mark(f"forward {step}")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mark(f"step {step}")
