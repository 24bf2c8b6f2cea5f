model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(), nn.Linear(4000, 1000)).cuda()
mark("model")
for p in model[0].parameters():
    p.requires_grad = False
del p
model[2].bias.requires_grad = False
for i in (0, 2, 4):
    fully_shard(model[i])
fully_shard(model)
opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=0.01)
mark("wrapped")
for step in range(3):
    x = torch.randn(64, 1000, device="cuda")
    y = torch.randint(0, 1000, (64,), device="cuda")
    opt.zero_grad()
    mark(f"batch {step}")
    out = model(x)
    mark(f"forward {step}")
    loss = F.cross_entropy(out, y)
    loss.backward()
    mark(f"backward {step}")
    opt.step()
    mark(f"step {step}")
