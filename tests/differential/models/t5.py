import math
import torch
from torch import nn
import torch.nn.functional as F

width, heads, vocab = 64, 4, 120


class T5LayerNorm(nn.Module):
    def __init__(self, size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x):
        variance = x.to(torch.float32).pow(2).mean(-1, keepdim=True)
        x = x * torch.rsqrt(variance + self.eps)
        return self.weight * x


def bucket(relative, bidirectional, buckets=32, furthest=128):
    result = torch.zeros_like(relative)
    if bidirectional:
        buckets = buckets // 2
        result = result + (relative > 0).to(torch.long) * buckets
        relative = torch.abs(relative)
    else:
        relative = -torch.min(relative, torch.zeros_like(relative))
    exact = buckets // 2
    small = relative < exact
    large = exact + (torch.log(relative.float() / exact) / math.log(furthest / exact) * (buckets - exact)).to(torch.long)
    large = torch.min(large, torch.full_like(large, buckets - 1))
    return result + torch.where(small, relative, large)


class Attention(nn.Module):
    def __init__(self, bias, bidirectional):
        super().__init__()
        self.bidirectional = bidirectional
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(width, width, bias=False)
        self.v = nn.Linear(width, width, bias=False)
        self.o = nn.Linear(width, width, bias=False)
        self.relative = nn.Embedding(32, heads) if bias else None

    def compute_bias(self, queries, keys):
        positions = torch.arange(queries, dtype=torch.long, device="cuda")[:, None]
        memory = torch.arange(keys, dtype=torch.long, device="cuda")[None, :]
        values = self.relative(bucket(memory - positions, self.bidirectional))
        return values.permute([2, 0, 1]).unsqueeze(0)

    def forward(self, x, memory, bias, mask):
        B, T, _ = x.shape
        S = memory.shape[1]
        q = self.q(x).view(B, T, heads, -1).transpose(1, 2)
        k = self.k(memory).view(B, S, heads, -1).transpose(1, 2)
        v = self.v(memory).view(B, S, heads, -1).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(3, 2))
        if bias is None:
            if self.relative is not None:
                bias = self.compute_bias(T, S)
            else:
                bias = torch.zeros(1, heads, T, S, device="cuda")
            if mask is not None:
                bias = bias + mask
        scores += bias
        weights = F.softmax(scores.float(), dim=-1).type_as(scores)
        weights = F.dropout(weights, p=0.1, training=self.training)
        out = torch.matmul(weights, v).transpose(1, 2).contiguous().view(B, T, width)
        return self.o(out), bias


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.wi = nn.Linear(width, 2 * width, bias=False)
        self.wo = nn.Linear(2 * width, width, bias=False)
        self.norm = T5LayerNorm(width)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        h = F.relu(self.wi(self.norm(x)))
        return x + self.dropout(self.wo(self.dropout(h)))


class EncoderLayer(nn.Module):
    def __init__(self, bias):
        super().__init__()
        self.norm = T5LayerNorm(width)
        self.attention = Attention(bias, True)
        self.ff = FeedForward()

    def forward(self, x, bias):
        h = self.norm(x)
        h, bias = self.attention(h, h, bias, None)
        return self.ff(x + h), bias


class DecoderLayer(nn.Module):
    def __init__(self, bias):
        super().__init__()
        self.norm1 = T5LayerNorm(width)
        self.attention = Attention(bias, False)
        self.norm2 = T5LayerNorm(width)
        self.cross = Attention(False, True)
        self.ff = FeedForward()

    def forward(self, x, memory, bias, cross_bias, mask):
        h = self.norm1(x)
        h, bias = self.attention(h, h, bias, mask)
        x = x + h
        h, cross_bias = self.cross(self.norm2(x), memory, cross_bias, None)
        x = x + h
        return self.ff(x), bias, cross_bias


class T5(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Embedding(vocab, width)
        self.encoder = nn.ModuleList([EncoderLayer(i == 0) for i in range(2)])
        self.encoder_norm = T5LayerNorm(width)
        self.decoder = nn.ModuleList([DecoderLayer(i == 0) for i in range(2)])
        self.decoder_norm = T5LayerNorm(width)
        self.lm_head = nn.Linear(width, vocab, bias=False)

    def forward(self, source, target):
        memory = self.shared(source)
        bias = None
        for layer in self.encoder:
            memory, bias = layer(memory, bias)
        memory = self.encoder_norm(memory)
        T = target.shape[1]
        mask = torch.triu(torch.full((T, T), -1e9, device="cuda"), diagonal=1)
        x = self.shared(target)
        bias = None
        cross_bias = None
        for layer in self.decoder:
            x, bias, cross_bias = layer(x, memory, bias, cross_bias, mask)
        return self.lm_head(self.decoder_norm(x) * (width ** -0.5))


model = T5().cuda()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
mark("model")
for step in range(2):
    source = torch.randint(0, vocab, (3, 14), device="cuda")
    target = torch.randint(0, vocab, (3, 9), device="cuda")
    shifted = target.new_zeros(target.shape)
    shifted[:, 1:] = target[:, :-1].clone()
    logits = model(source, shifted)
    loss = F.cross_entropy(logits.view(-1, logits.size(-1)), target.view(-1))
    mark(f"forward {step}")
    opt.zero_grad()
    loss.backward()
    opt.step()
    mark(f"step {step}")
