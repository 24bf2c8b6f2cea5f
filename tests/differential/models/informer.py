import math
import torch
from torch import nn
import torch.nn.functional as F


class ProbAttention(nn.Module):
    def __init__(self, width, heads, factor=2):
        super().__init__()
        self.q = nn.Linear(width, width)
        self.k = nn.Linear(width, width)
        self.v = nn.Linear(width, width)
        self.o = nn.Linear(width, width)
        self.heads, self.factor = heads, factor

    def forward(self, x):
        b, t, w = x.shape
        q = self.q(x).view(b, t, self.heads, -1).transpose(2, 1)
        k = self.k(x).view(b, t, self.heads, -1).transpose(2, 1)
        v = self.v(x).view(b, t, self.heads, -1).transpose(2, 1)
        u = min(self.factor * math.ceil(math.log(t)), t)
        sample = torch.randint(t, (t, u), device=x.device)
        expanded = k.unsqueeze(-3).expand(b, self.heads, t, t, k.size(-1))
        sampled = expanded[:, :, torch.arange(t, device=x.device).unsqueeze(1), sample, :]
        scores = torch.matmul(q.unsqueeze(-2), sampled.transpose(-2, -1)).squeeze(-2)
        measure = scores.max(-1)[0] - scores.sum(-1) / t
        top = measure.topk(u, sorted=False)[1]
        rows = torch.arange(b, device=x.device)[:, None, None]
        heads = torch.arange(self.heads, device=x.device)[None, :, None]
        chosen = q[rows, heads, top, :]
        attention = torch.softmax(torch.matmul(chosen, k.transpose(-2, -1)) / math.sqrt(q.size(-1)), dim=-1)
        context = v.mean(dim=-2).unsqueeze(-2).expand(b, self.heads, t, v.size(-1)).clone()
        context[rows, heads, top, :] = torch.matmul(attention, v).type_as(context)
        return self.o(context.transpose(2, 1).contiguous().view(b, t, w))


class Distill(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv1d(width, width, 3, padding=1, padding_mode="circular")
        self.norm = nn.BatchNorm1d(width)
        self.pool = nn.MaxPool1d(3, stride=2, padding=1)

    def forward(self, x):
        return self.pool(F.elu(self.norm(self.conv(x.permute(0, 2, 1))))).transpose(1, 2)


class Informer(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embed = nn.Conv1d(7, width, 3, padding=1, padding_mode="circular", bias=False)
        nn.init.kaiming_normal_(self.embed.weight, mode="fan_in", nonlinearity="leaky_relu")
        pe = torch.zeros(64, width)
        position = torch.arange(0, 64).float().unsqueeze(1)
        div = (torch.arange(0, width, 2).float() * -(math.log(10000.0) / width)).exp()
        pe[:, 0::2] = torch.sin(position * div)
        pe[:, 1::2] = torch.cos(position * div)
        self.register_buffer("pe", pe.unsqueeze(0))
        self.attention = nn.ModuleList([ProbAttention(width, 4) for _ in range(2)])
        self.c1 = nn.ModuleList([nn.Conv1d(width, 64, 1) for _ in range(2)])
        self.c2 = nn.ModuleList([nn.Conv1d(64, width, 1) for _ in range(2)])
        self.n1 = nn.ModuleList([nn.LayerNorm(width) for _ in range(2)])
        self.n2 = nn.ModuleList([nn.LayerNorm(width) for _ in range(2)])
        self.distill = Distill(width)
        self.head = nn.Linear(width, 7)
        self.dropout = nn.Dropout(0.05)

    def forward(self, x):
        x = self.embed(x.permute(0, 2, 1)).transpose(1, 2) + self.pe[:, : x.size(1)]
        for i in range(2):
            x = x + self.dropout(self.attention[i](x))
            x = self.n1[i](x)
            y = x
            y = self.dropout(F.gelu(self.c1[i](y.transpose(-1, 1))))
            y = self.dropout(self.c2[i](y).transpose(-1, 1))
            x = self.n2[i](x + y)
            if i == 0:
                x = self.distill(x)
        return self.head(x)


model = Informer().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
mark("model")
for step in range(2):
    x = torch.randn(4, 24, 7, device="cuda")
    out = model(x)
    loss = F.mse_loss(out, torch.randn_like(out)) + F.l1_loss(out, torch.zeros_like(out))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mark(f"step {step}")
