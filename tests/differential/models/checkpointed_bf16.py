import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


class FeedForward(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.w1 = nn.Linear(dim, hidden, bias=False)
        self.w2 = nn.Linear(hidden, dim, bias=False)
        self.w3 = nn.Linear(dim, hidden, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.proj = nn.Linear(dim, dim, bias=False)
        self.norm2 = nn.LayerNorm(dim)
        self.ff = FeedForward(dim, 3 * dim)

    def forward(self, x):
        b, t, d = x.shape
        qkv = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, d))
        return x + self.ff(self.norm2(x))


class Model(nn.Module):
    def __init__(self, vocab, dim, layers):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.blocks = nn.ModuleList([Block(dim, 4) for _ in range(layers)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab, bias=False)

    def forward(self, x, use_reentrant):
        h = self.emb(x)
        for block in self.blocks:
            h = checkpoint(block, h, use_reentrant=use_reentrant)
        return self.head(self.norm(h))


model = Model(200, 64, 3).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), fused=True)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 2))
mark("model")
for step in range(3):
    tokens = torch.randint(0, 200, (4, 33), device="cuda")
    x, y = tokens[:, :-1], tokens[:, 1:]
    with torch.autocast("cuda", dtype=torch.bfloat16):
        logits = model(x, step == 1)
        loss = F.cross_entropy(logits.reshape(-1, 200), y.reshape(-1))
    mark(f"forward {step}")
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    mark(f"step {step}")
peak = torch.cuda.max_memory_allocated()
torch.cuda.reset_peak_memory_stats()
model.eval()
with torch.inference_mode(), torch.autocast("cuda", dtype=torch.bfloat16):
    logits = model(x, False)
    ppl = F.cross_entropy(logits.float().reshape(-1, 200), y.reshape(-1)).exp().item()
mark("evaluated")
