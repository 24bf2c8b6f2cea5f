import torch
from torch import nn
import torch.nn.functional as F

final = nn.Linear(256, 128)
shared = nn.Sequential(nn.Linear(64, 256), nn.Mish(), final, nn.Mish()).cuda()
heads = nn.ModuleList([nn.Linear(128, 1) for _ in range(3)]).cuda()
weights = torch.ones(3, device="cuda", requires_grad=True)
optimizer = torch.optim.Adam(shared.parameters(), lr=1e-3)
optimizer.add_param_group({"params": heads.parameters(), "lr": 1e-2})
balance = torch.optim.SGD([weights], lr=0.025)
mark("model")
for step in range(3):
    x = torch.randn(100, 64, device="cuda")
    y = torch.randn(100, 3, device="cuda")
    h = shared(x)
    losses = []
    for i, head in enumerate(heads.children()):
        losses.append(F.mse_loss(head(h).squeeze(1), y[:, i]))
    stacked = torch.stack(losses)
    total = (weights * stacked).sum()
    optimizer.zero_grad()
    balance.zero_grad()
    total.backward(retain_graph=True)
    mark(f"backward {step}")
    last = final.weight
    norms = []
    for i in range(3):
        g, = torch.autograd.grad(weights[i] * losses[i], last, retain_graph=True, create_graph=True)
        norms.append(g.norm())
    norms = torch.stack(norms)
    goal = norms.detach().mean() * (stacked.detach() / stacked.detach().mean()) ** 0.12
    gap = (norms - goal).abs().sum()
    weights.grad = torch.autograd.grad(gap, weights)[0]
    optimizer.step()
    balance.step()
    with torch.no_grad():
        weights.mul_(3 / weights.sum())
    del losses, norms, h, total, stacked, gap
    mark(f"step {step}")
