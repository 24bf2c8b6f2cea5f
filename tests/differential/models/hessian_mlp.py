import torch
from torch import nn
import torch.nn.functional as F

net = nn.Sequential(nn.Linear(12, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 16), nn.LayerNorm(16), nn.Linear(16, 4)).cuda()
mark("model")
params = [p for p in net.parameters()]
for step in range(1):
    x = torch.randn(6, 12, device="cuda")
    y = torch.randint(0, 4, (6,), device="cuda")
    loss = F.cross_entropy(net(x), y)
    grads = torch.autograd.grad(loss, params, create_graph=True)
    dot = 0.0
    for g in grads:
        dot = dot + (g * g).sum()
    dot.backward()
    mark(f"step {step}")
