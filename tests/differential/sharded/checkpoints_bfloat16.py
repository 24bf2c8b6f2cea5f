mp = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.n1 = nn.LayerNorm(d)
        self.attn = nn.MultiheadAttention(d, h, batch_first=True)
        self.n2 = nn.LayerNorm(d)
        self.up = nn.Linear(d, 4 * d)
        self.down = nn.Linear(4 * d, d)

    def forward(self, x):
        h = self.n1(x)
        x = x + self.attn(h, h, h, need_weights=False)[0]
        return x + self.down(F.gelu(self.up(self.n2(x))))


class Net(nn.Module):
    def __init__(self, v, d, h, n):
        super().__init__()
        self.emb = nn.Embedding(v, d)
        self.blocks = nn.ModuleList([Block(d, h) for _ in range(n)])
        self.norm = nn.LayerNorm(d)
        self.head = nn.Linear(d, v, bias=False)

    def forward(self, i):
        x = self.emb(i)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return self.head(self.norm(x))


model = Net(1003, 256, 4, 2).cuda()
mark("model")
for block in model.blocks:
    fully_shard(block, mp_policy=mp)
fully_shard(model, mp_policy=mp)
opt = torch.optim.AdamW(model.parameters(), lr=0.01)
mark("wrapped")
for step in range(2):
    x = torch.randint(0, 1003, (8, 64), device="cuda")
    y = torch.randint(0, 1003, (8, 64), device="cuda")
    opt.zero_grad()
    mark(f"batch {step}")
    out = model(x)
    mark(f"forward {step}")
    loss = F.cross_entropy(out.flatten(0, 1), y.flatten())
    loss.backward()
    mark(f"backward {step}")
    opt.step()
    mark(f"step {step}")
