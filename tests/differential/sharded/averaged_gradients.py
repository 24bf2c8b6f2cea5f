model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 1000)).cuda()
for parameter in model.parameters():
    dist.broadcast(parameter.data, 0)
opt = torch.optim.AdamW(model.parameters())
mark("model")
for step in range(2):
    x = torch.randn(64, 1000, device="cuda")
    y = torch.randint(0, 1000, (64,), device="cuda")
    out = model(x)
    loss = F.cross_entropy(out, y)
    mark(f"forward {step}")
    opt.zero_grad()
    loss.backward()
    mark(f"backward {step}")
    works = [dist.all_reduce(p.grad, op=dist.ReduceOp.AVG, async_op=True) for p in model.parameters()]
    mark(f"begun {step}")
    for i in range(4):
        works[i].wait()
    del works
    mark(f"averaged {step}")
    opt.step()
    mark(f"step {step}")
    shown = loss.detach().clone()
    dist.all_reduce(shown, op=dist.ReduceOp.AVG)
    mark(f"loss {step}")
del parameter, shown
