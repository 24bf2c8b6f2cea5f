import torch
from torch import nn
import torch.nn.functional as F

model = nn.Sequential(nn.Linear(23, 47), nn.Softplus(), nn.Linear(47, 31), nn.Tanh(), nn.Linear(31, 4)).cuda()
params = list(model.parameters())
x = torch.randn(26, 23, device="cuda")
y = torch.randint(0, 4, (26,), device="cuda")
mark("model")


def hvp(grads, params, v):
    dot = 0
    for g, u in zip(grads, v):
        dot = dot + (g * u).sum()
    return torch.autograd.grad(dot, params, retain_graph=True)


def normalized(v):
    norm = torch.sqrt(sum_of([(u * u).sum() for u in v])) + 1e-6
    return [u / norm for u in v]


def sum_of(items):
    total = items[0]
    for item in items[1:]:
        total = total + item
    return total


loss = F.cross_entropy(model(x), y)
grads = torch.autograd.grad(loss, params, create_graph=True)
mark("gradient")
eigenvalues = []
vectors = []
for k in range(2):
    v = normalized([torch.randn_like(p) for p in params])
    for i in range(3):
        for u in vectors:
            overlap = sum_of([(a * b).sum() for a, b in zip(v, u)])
            v = [a - overlap * b for a, b in zip(v, u)]
        Hv = hvp(grads, params, v)
        value = sum_of([(a * b).sum() for a, b in zip(Hv, v)]).item()
        v = normalized(Hv)
        mark(f"vector {k} turn {i}")
    eigenvalues.append(value)
    vectors.append(v)
trace = 0.0
for i in range(2):
    v = [torch.randint(0, 2, p.shape, device="cuda").float() * 2 - 1 for p in params]
    Hv = hvp(grads, params, v)
    trace += sum_of([(a * b).sum() for a, b in zip(Hv, v)]).item()
mark("trace")
del grads, loss
mark("graph gone")
penalty = torch.autograd.grad(F.cross_entropy(model(x), y), params, create_graph=True)
total = sum_of([p.pow(2).sum() for p in penalty])
total.backward()
mark("penalty")
