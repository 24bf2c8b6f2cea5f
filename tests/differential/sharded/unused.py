class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(1000, 512)
        self.b = nn.Linear(512, 512)
        self.c = nn.Linear(512, 1000)
        self.last = nn.Parameter(torch.zeros(1001))
        self.uses_b = False

    def forward(self, x):
        h = self.a(x).relu()
        if self.uses_b:
            h = self.b(h).relu()
        return self.c(h) * self.last[:1000]


model = Net().cuda()
mark("model")
for part in (model.a, model.b, model.c):
    fully_shard(part)
fully_shard(model)
opt = torch.optim.AdamW(model.parameters(), lr=0.01)
mark("wrapped")
for step in range(3):
    x = torch.randn(64, 1000, device="cuda")
    y = torch.randint(0, 1000, (64,), device="cuda")
    model.uses_b = step == 1
    opt.zero_grad()
    mark(f"batch {step}")
    out = model(x)
    mark(f"forward {step}")
    loss = F.cross_entropy(out, y)
    loss.backward()
    mark(f"backward {step}")
    opt.step()
    mark(f"step {step}")
