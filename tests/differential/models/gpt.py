import torch
from torch import nn
import torch.nn.functional as F

vocab, context, width, heads = 256, 32, 64, 4


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(width, 3 * width)
        self.c_proj = nn.Linear(width, width)

    def forward(self, x, cache):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(width, dim=2)
        q = q.view(B, T, heads, C // heads).transpose(1, 2)
        k = k.view(B, T, heads, C // heads).transpose(1, 2)
        v = v.view(B, T, heads, C // heads).transpose(1, 2)
        if cache is not None:
            k = torch.cat([cache[0], k], dim=2)
            v = torch.cat([cache[1], v], dim=2)
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=0.0, is_causal=cache is None)
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.c_proj(y), [k, v]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1 = nn.LayerNorm(width, bias=False)
        self.attn = Attention()
        self.ln_2 = nn.LayerNorm(width, bias=False)
        self.c_fc = nn.Linear(width, 4 * width)
        self.c_proj = nn.Linear(4 * width, width)

    def forward(self, x, cache=None):
        h, cache = self.attn(self.ln_1(x), cache)
        x = x + h
        x = x + self.c_proj(F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))
        return x, cache


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(vocab, width)
        self.wpe = nn.Embedding(context, width)
        self.h = nn.ModuleList([Block() for _ in range(2)])
        self.ln_f = nn.LayerNorm(width, bias=False)
        self.lm_head = nn.Linear(width, vocab, bias=False)
        self.wte.weight = self.lm_head.weight
        for name, p in self.named_parameters():
            if name.endswith("c_proj.weight"):
                torch.nn.init.normal_(p, mean=0.0, std=0.01)

    def forward(self, idx, targets):
        pos = torch.arange(0, idx.size(1), dtype=torch.long, device=idx.device)
        x = self.wte(idx) + self.wpe(pos)
        for block in self.h:
            x, _ = block(x)
        logits = self.lm_head(self.ln_f(x))
        return logits, F.cross_entropy(logits.view(-1, vocab), targets.view(-1), ignore_index=-1)

    def step(self, idx, start, caches):
        pos = torch.arange(start, start + idx.size(1), device=idx.device)
        x = self.wte(idx) + self.wpe(pos)
        new = []
        for i, block in enumerate(self.h):
            x, cache = block(x, caches[i])
            new.append(cache)
        return self.lm_head(self.ln_f(x[:, -1:])), new


model = GPT().cuda()
decay = [p for p in model.parameters() if p.dim() >= 2]
rest = [p for p in model.parameters() if p.dim() < 2]
opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}],
                        lr=6e-4, betas=(0.9, 0.95), fused=True)
mark("model")
for step in range(2):
    data = torch.randint(0, vocab, (4, context + 1), device="cuda")
    x, y = data[:, :-1], data[:, 1:].contiguous()
    with torch.amp.autocast("cuda", dtype=torch.bfloat16):
        logits, loss = model(x, y)
    mark(f"forward {step}")
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    opt.zero_grad(set_to_none=True)
    mark(f"step {step}")
model.eval()
with torch.no_grad():
    tokens = torch.zeros(1, 4, dtype=torch.long, device="cuda")
    caches = [None, None]
    logits, caches = model.step(tokens, 0, caches)
    for i in range(3):
        values, _ = torch.topk(logits[:, -1, :] / 0.8, 20)
        scores = logits[:, -1, :].masked_fill(logits[:, -1, :] < values[:, -1:], -float("inf"))
        token = torch.multinomial(F.softmax(scores, dim=-1), num_samples=1)
        tokens = torch.cat((tokens, token), dim=1)
        logits, caches = model.step(token, 4 + i, caches)
        mark(f"token {i}")
