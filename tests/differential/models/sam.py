import torch
from torch import nn
import torch.nn.functional as F

model = nn.Sequential(
    nn.Conv2d(3, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 16, 3, padding=1), nn.GroupNorm(4, 16), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
    nn.Flatten(), nn.Linear(16, 10)).cuda()
base = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
rho = 0.05


def grad_norm():
    return torch.norm(torch.stack([p.grad.norm(p=2) for p in model.parameters()]), p=2)


mark("model")
for step in range(2):
    x = torch.randn(8, 3, 16, 16, device="cuda")
    y = torch.randint(0, 10, (8,), device="cuda")
    loss = F.cross_entropy(model(x), y, label_smoothing=0.1)
    loss.backward()
    mark(f"first {step}")
    old = []
    with torch.no_grad():
        scale = rho / (grad_norm() + 1e-12)
        for p in model.parameters():
            old.append(p.data.clone())
            e_w = p.grad * scale
            p.add_(e_w)
    base.zero_grad()
    mark(f"perturbed {step}")
    F.cross_entropy(model(x), y, label_smoothing=0.1).backward()
    with torch.no_grad():
        for p, o in zip(model.parameters(), old):
            p.data.copy_(o)
    base.step()
    base.zero_grad()
    mark(f"step {step}")
