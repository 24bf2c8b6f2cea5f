import torch
from torch import nn
import torch.nn.functional as F

net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, stride=2), nn.SiLU(), nn.AdaptiveAvgPool2d((2, 2)), nn.Flatten(), nn.Linear(64, 5)).cuda()
mark("model")
params = [p for p in net.parameters()]
for step in range(1):
    x = torch.randn(4, 3, 12, 12, device="cuda")
    y = torch.randint(0, 5, (4,), device="cuda")
    loss = F.cross_entropy(net(x), y, label_smoothing=0.1)
    grads = torch.autograd.grad(loss, params, create_graph=True)
    norm = 0.0
    for g in grads:
        norm = norm + g.pow(2).sum()
    (loss + 0.1 * norm).backward()
    net.zero_grad()
    mark(f"step {step}")
