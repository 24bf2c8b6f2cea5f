import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 10)).cuda()
opt = torch.optim.LBFGS(net.parameters(), history_size=200, max_iter=4)
trace = []
for i in range(400):
    x = torch.randn(2048, 256, device="cuda")
    y = torch.randint(0, 10, (2048,), device="cuda")

    def closure():
        opt.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        return loss

    out = F.cross_entropy(net(x), y)
    trace.append((i, out))
    opt.step(closure)
