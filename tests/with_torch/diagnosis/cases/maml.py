import torch
from torch import nn
from torch.func import functional_call

net = nn.Sequential(nn.Linear(64, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 1)).cuda()
meta = torch.optim.Adam(net.parameters(), lr=1e-3)


def adapt(params, x, y, steps=5, lr=0.01):
    for _ in range(steps):
        loss = nn.functional.mse_loss(functional_call(net, params, x), y)
        grads = torch.autograd.grad(loss, list(params.values()), create_graph=True)
        params = {n: p - lr * g for (n, p), g in zip(params.items(), grads)}
    return params


for it in range(20):
    meta.zero_grad()
    for task in range(4):
        x, y = torch.randn(256, 64, device="cuda"), torch.randn(256, 1, device="cuda")
        adapted = adapt(dict(net.named_parameters()), x, y)
        nn.functional.mse_loss(functional_call(net, adapted, x), y).backward()
    meta.step()
