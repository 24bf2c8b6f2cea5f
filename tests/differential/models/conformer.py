import math
import torch
from torch import nn
import torch.nn.functional as F


class FeedForward(nn.Module):
    def __init__(self, d, p):
        super().__init__()
        self.net = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.SiLU(), nn.Dropout(p), nn.Linear(4 * d, d), nn.Dropout(p))

    def forward(self, x):
        return self.net(x)


class ConvModule(nn.Module):
    def __init__(self, d, kernel, p):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.pw1 = nn.Conv1d(d, 2 * d, 1)
        self.dw = nn.Conv1d(d, d, kernel, padding=(kernel - 1) // 2, groups=d)
        self.bn = nn.BatchNorm1d(d)
        self.pw2 = nn.Conv1d(d, d, 1)
        self.dropout = nn.Dropout(p)

    def forward(self, x):
        x = self.norm(x).transpose(1, 2)
        x = F.glu(self.pw1(x), dim=1)
        x = F.silu(self.bn(self.dw(x)))
        return self.dropout(self.pw2(x)).transpose(1, 2)


class RelAttention(nn.Module):
    def __init__(self, d, heads, p):
        super().__init__()
        self.h, self.dh = heads, d // heads
        self.q = nn.Linear(d, d)
        self.k = nn.Linear(d, d)
        self.v = nn.Linear(d, d)
        self.pos = nn.Linear(d, d, bias=False)
        self.out = nn.Linear(d, d)
        self.u = nn.Parameter(torch.empty(heads, d // heads))
        self.w = nn.Parameter(torch.empty(heads, d // heads))
        nn.init.xavier_uniform_(self.u)
        nn.init.xavier_uniform_(self.w)
        self.dropout = nn.Dropout(p)
        self.norm = nn.LayerNorm(d)

    def shift(self, x):
        b, h, t, p = x.size()
        zeros = x.new_zeros(b, h, t, 1)
        x = torch.cat([zeros, x], dim=-1).view(b, h, p + 1, t)
        return x[:, :, 1:].view(b, h, t, p)

    def forward(self, x, pe, mask):
        x = self.norm(x)
        B, T, D = x.shape
        q = self.q(x).view(B, T, self.h, self.dh)
        k = self.k(x).view(B, T, self.h, self.dh).permute(0, 2, 1, 3)
        v = self.v(x).view(B, T, self.h, self.dh).permute(0, 2, 1, 3)
        p = self.pos(pe).view(B, -1, self.h, self.dh)
        content = torch.matmul((q + self.u).transpose(1, 2), k.transpose(2, 3))
        position = torch.matmul((q + self.w).transpose(1, 2), p.permute(0, 2, 3, 1))
        score = (content + self.shift(position)) / math.sqrt(D)
        score.masked_fill_(mask.unsqueeze(1), -1e9)
        attn = self.dropout(F.softmax(score, -1))
        context = torch.matmul(attn, v).transpose(1, 2)
        return self.out(context.contiguous().view(B, -1, D))


class Block(nn.Module):
    def __init__(self, d, heads, p):
        super().__init__()
        self.ff1 = FeedForward(d, p)
        self.attn = RelAttention(d, heads, p)
        self.conv = ConvModule(d, 7, p)
        self.ff2 = FeedForward(d, p)
        self.norm = nn.LayerNorm(d)

    def forward(self, x, pe, mask):
        x = x + 0.5 * self.ff1(x)
        x = x + self.attn(x, pe, mask)
        x = x + self.conv(x)
        x = x + 0.5 * self.ff2(x)
        return self.norm(x)


class Conformer(nn.Module):
    def __init__(self, d=48, vocab=20):
        super().__init__()
        self.sub = nn.Sequential(nn.Conv2d(1, 16, 3, 2), nn.ReLU(), nn.Conv2d(16, 16, 3, 2), nn.ReLU())
        self.proj = nn.Linear(16 * 9, d)
        pe = torch.zeros(100, d)
        position = torch.arange(0, 100, dtype=torch.float).unsqueeze(1)
        div = torch.exp(torch.arange(0, d, 2).float() * -(math.log(10000.0) / d))
        pe[:, 0::2] = torch.sin(position * div)
        pe[:, 1::2] = torch.cos(position * div)
        self.register_buffer("pe", pe.unsqueeze(0))
        self.blocks = nn.ModuleList([Block(d, 4, 0.1) for _ in range(2)])
        self.fc = nn.Linear(d, vocab)

    def forward(self, x, mask):
        x = self.sub(x.unsqueeze(1))
        b, c, t, f = x.size()
        x = self.proj(x.permute(0, 2, 1, 3).contiguous().view(b, t, c * f))
        pe = self.pe[:, :t].repeat(b, 1, 1)
        for block in self.blocks:
            x = block(x, pe, mask)
        return F.log_softmax(self.fc(x), dim=-1)


model = Conformer().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min((step + 1) ** -0.5, (step + 1) * 100 ** -1.5))
ctc = nn.CTCLoss(blank=0, zero_infinity=True)
mark("model")
for step in range(3):
    x = torch.randn(3, 60, 39, device="cuda")
    mask = torch.zeros(3, 14, 14, dtype=torch.bool, device="cuda")
    mask[1, :, 10:] = True
    targets = torch.randint(1, 20, (3, 5), device="cuda")
    logp = model(x, mask)
    loss = ctc(logp.transpose(0, 1), targets, torch.tensor([14, 10, 14]), torch.tensor([5, 4, 3]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    mark(f"step {step}")
