import torch
from torch import nn
import torch.nn.functional as F


class TimeMix(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.time_decay = nn.Parameter(torch.ones(d))
        self.time_first = nn.Parameter(torch.ones(d) * 0.5)
        self.mix_k = nn.Parameter(torch.ones(1, 1, d))
        self.mix_v = nn.Parameter(torch.ones(1, 1, d))
        self.mix_r = nn.Parameter(torch.ones(1, 1, d))
        self.time_shift = nn.ZeroPad2d((0, 0, 1, -1))
        self.key = nn.Linear(d, d, bias=False)
        self.value = nn.Linear(d, d, bias=False)
        self.receptance = nn.Linear(d, d, bias=False)
        self.output = nn.Linear(d, d, bias=False)

    def forward(self, x):
        B, T, C = x.size()
        xx = self.time_shift(x)
        k = self.key(x * self.mix_k + xx * (1 - self.mix_k))
        v = self.value(x * self.mix_v + xx * (1 - self.mix_v))
        r = torch.sigmoid(self.receptance(x * self.mix_r + xx * (1 - self.mix_r)))
        w = -torch.exp(self.time_decay)
        aa = torch.zeros(B, C, device=x.device)
        bb = torch.zeros(B, C, device=x.device)
        pp = torch.full((B, C), -1e38, device=x.device)
        out = []
        for t in range(T):
            kk = k[:, t]
            vv = v[:, t]
            ww = self.time_first + kk
            p = torch.maximum(pp, ww)
            e1 = torch.exp(pp - p)
            e2 = torch.exp(ww - p)
            out.append(((e1 * aa + e2 * vv) / (e1 * bb + e2)).unsqueeze(1))
            ww = pp + w
            p = torch.maximum(ww, kk)
            e1 = torch.exp(ww - p)
            e2 = torch.exp(kk - p)
            aa = e1 * aa + e2 * vv
            bb = e1 * bb + e2
            pp = p
        return self.output(r * torch.cat(out, dim=1))


class ChannelMix(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.time_shift = nn.ZeroPad2d((0, 0, 1, -1))
        self.mix_k = nn.Parameter(torch.ones(1, 1, d))
        self.key = nn.Linear(d, 4 * d, bias=False)
        self.receptance = nn.Linear(d, d, bias=False)
        self.value = nn.Linear(4 * d, d, bias=False)

    def forward(self, x):
        xx = self.time_shift(x)
        xk = torch.lerp(xx, x, self.mix_k)
        k = torch.square(torch.relu(self.key(xk)))
        return torch.sigmoid(self.receptance(xk)) * self.value(k)


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.ln1 = nn.LayerNorm(d)
        self.ln2 = nn.LayerNorm(d)
        self.att = TimeMix(d)
        self.ffn = ChannelMix(d)

    def forward(self, x):
        x = x + self.att(self.ln1(x))
        x = x + self.ffn(self.ln2(x))
        return x


class RWKV(nn.Module):
    def __init__(self, vocab, d, layers):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.blocks = nn.Sequential(*[Block(d) for i in range(layers)])
        self.ln_out = nn.LayerNorm(d)
        self.head = nn.Linear(d, vocab, bias=False)

    def forward(self, idx, targets=None):
        x = self.head(self.ln_out(self.blocks(self.emb(idx))))
        loss = None
        if targets is not None:
            loss = F.cross_entropy(x.view(-1, x.size(-1)), targets.view(-1))
        return x, loss


model = RWKV(60, 32, 2).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=6e-4, betas=(0.9, 0.99), eps=1e-8)
mark("model")
for step in range(2):
    data = torch.randint(0, 60, (3, 9), device="cuda")
    logits, loss = model(data[:, :-1].contiguous(), data[:, 1:].contiguous())
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    mark(f"step {step}")
