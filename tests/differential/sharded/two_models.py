one = nn.Sequential(nn.Linear(1000, 500), nn.ReLU(), nn.Linear(500, 1000)).cuda()
two = nn.Sequential(nn.Linear(1000, 300), nn.ReLU(), nn.Linear(300, 1000)).cuda()
mark("model")
for net in (one, two):
    fully_shard(net[0])
    fully_shard(net)
del net
model = one, two
opt = [torch.optim.AdamW(one.parameters()), torch.optim.AdamW(two.parameters())]
mark("wrapped")
for step in range(3):
    x = torch.randn(64, 1000, device="cuda")
    y = torch.randint(0, 1000, (64,), device="cuda")
    out = one(x)
    mark(f"first {step}")
    loss = F.cross_entropy(two(out.detach()), y)
    mark(f"second {step}")
    loss.backward()
    mark(f"backward {step}")
    opt[1].step()
    opt[1].zero_grad()
    loss = F.cross_entropy(two(out), y)
    mark(f"third {step}")
    loss.backward()
    opt[0].step()
    opt[0].zero_grad()
    opt[1].zero_grad()
    mark(f"step {step}")
