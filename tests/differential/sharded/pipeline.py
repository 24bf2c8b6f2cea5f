model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 1000)).cuda()
opt = torch.optim.SGD(model.parameters(), lr=0.01)
mark("stage")
for step in range(2):
    outs = []
    for part in range(3):
        x = torch.randn(64, 1000, device="cuda")
        out = model(x)
        dist.send(out.detach(), 1)
        outs.append(out)
        mark(f"sent {step} {part}")
    for part in range(3):
        y = torch.empty(64, 1000, device="cuda")
        dist.recv(y, 1)
        outs[part].backward(y)
        outs[part] = None
        mark(f"backward {step} {part}")
    opt.step()
    opt.zero_grad()
    mark(f"step {step}")
del outs, y
