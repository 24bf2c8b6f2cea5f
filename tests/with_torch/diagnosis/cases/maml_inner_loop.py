import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1))

    def forward(self, x):
        return self.layers(x)


def adapt(model, x, y, steps, lr=0.01):
    fast = dict(model.named_parameters())
    for _ in range(steps):
        loss = F.mse_loss(functional_call(model, fast, (x,)), y)
        grads = torch.autograd.grad(loss, fast.values(), create_graph=True)
        fast = {name: p - lr * g for (name, p), g in zip(fast.items(), grads)}
    return fast


model = Regressor().cuda()
meta = torch.optim.Adam(model.parameters(), lr=1e-3)
for iteration in range(5):
    meta.zero_grad()
    for task in range(4):
        x, y = torch.randn(128, 64, device="cuda"), torch.randn(128, 1, device="cuda")
        fast = adapt(model, x, y, steps=100)
        F.mse_loss(functional_call(model, fast, (x,)), y).backward()
    meta.step()
