# PGD: gradients of the input, with the model in eval mode.
import torch
from torch import nn
from torch.nn import functional as F

model = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
                      nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)).cuda().eval()


def pgd(model, x, y, eps=8 / 255, alpha=2 / 255, iters=10):
    delta = torch.zeros_like(x, requires_grad=True)
    for _ in range(iters):
        loss = F.cross_entropy(model(x + delta), y)
        grad, = torch.autograd.grad(loss, delta)
        delta.data = (delta + alpha * grad.sign()).clamp(-eps, eps)
    return (x + delta).detach()


robust = 0
for _ in range(6):
    x, y = torch.rand(128, 3, 32, 32, device="cuda"), torch.randint(10, (128,), device="cuda")
    adv = pgd(model, x, y)
    with torch.no_grad():
        robust += (model(adv).argmax(1) == y).sum().item()
