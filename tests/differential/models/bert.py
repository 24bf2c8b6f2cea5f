import math
import torch
from torch import nn
import torch.nn.functional as F

hidden, heads, vocab, length = 64, 4, 300, 24


class Embeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.word = nn.Embedding(vocab, hidden, padding_idx=0)
        self.position = nn.Embedding(64, hidden)
        self.kind = nn.Embedding(2, hidden)
        self.norm = nn.LayerNorm(hidden, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def forward(self, ids, kinds):
        positions = torch.arange(ids.size(1), dtype=torch.long, device=ids.device).unsqueeze(0)
        x = self.word(ids) + self.kind(kinds) + self.position(positions)
        return self.dropout(self.norm(x))


class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(hidden, hidden)
        self.key = nn.Linear(hidden, hidden)
        self.value = nn.Linear(hidden, hidden)
        self.dropout = nn.Dropout(0.1)

    def split(self, x):
        return x.view(x.size(0), x.size(1), heads, hidden // heads).permute(0, 2, 1, 3)

    def forward(self, x, mask):
        q = self.split(self.query(x))
        k = self.split(self.key(x))
        v = self.split(self.value(x))
        scores = torch.matmul(q, k.transpose(-1, -2))
        scores = scores / math.sqrt(hidden // heads)
        scores = scores + mask
        probs = nn.Softmax(dim=-1)(scores)
        probs = self.dropout(probs)
        context = torch.matmul(probs, v)
        return context.permute(0, 2, 1, 3).contiguous().view(x.size(0), x.size(1), hidden)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = SelfAttention()
        self.output = nn.Linear(hidden, hidden)
        self.norm1 = nn.LayerNorm(hidden, eps=1e-12)
        self.up = nn.Linear(hidden, 4 * hidden)
        self.down = nn.Linear(4 * hidden, hidden)
        self.norm2 = nn.LayerNorm(hidden, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, mask):
        h = self.dropout(self.output(self.attention(x, mask)))
        x = self.norm1(h + x)
        h = self.dropout(self.down(F.gelu(self.up(x))))
        return self.norm2(h + x)


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings = Embeddings()
        self.layers = nn.ModuleList([Layer() for _ in range(2)])
        self.pooler = nn.Linear(hidden, hidden)
        self.transform = nn.Linear(hidden, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.bias = nn.Parameter(torch.zeros(vocab))
        self.seq = nn.Linear(hidden, 2)

    def forward(self, ids, kinds, attention):
        mask = attention.unsqueeze(1).unsqueeze(2).to(dtype=torch.float32)
        mask = (1.0 - mask) * -10000.0
        x = self.embeddings(ids, kinds)
        for layer in self.layers:
            x = layer(x, mask)
        pooled = torch.tanh(self.pooler(x[:, 0]))
        h = self.norm(F.gelu(self.transform(x)))
        logits = F.linear(h, self.embeddings.word.weight, self.bias)
        return logits, self.seq(pooled)


model = Bert().cuda()
plain = [p for n, p in model.named_parameters() if not any(k in n for k in ["bias", "norm"])]
other = [p for n, p in model.named_parameters() if any(k in n for k in ["bias", "norm"])]
opt = torch.optim.AdamW([{"params": plain, "weight_decay": 0.01}, {"params": other, "weight_decay": 0.0}], lr=5e-5)
warmup = torch.optim.lr_scheduler.LambdaLR(opt, lambda step: min(1.0, (step + 1) / 10))
accumulation = 2
mark("model")
for step in range(4):
    ids = torch.randint(1, vocab, (4, length), device="cuda")
    kinds = torch.zeros_like(ids)
    attention = torch.ones(4, length, dtype=torch.long, device="cuda")
    attention[:, -4:] = 0
    labels = torch.where(torch.rand(4, length, device="cuda") < 0.15, ids, torch.full_like(ids, -100))
    following = torch.randint(0, 2, (4,), device="cuda")
    prediction, relation = model(ids, kinds, attention)
    lm = F.cross_entropy(prediction.view(-1, vocab), labels.view(-1), ignore_index=-100)
    loss = (lm + F.cross_entropy(relation, following)) / accumulation
    loss.backward()
    mark(f"backward {step}")
    if (step + 1) % accumulation == 0:
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        warmup.step()
        opt.zero_grad()
        mark(f"step {step}")
