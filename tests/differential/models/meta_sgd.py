import torch
from torch import nn
import torch.nn.functional as F
from torch.func import functional_call


class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 10, 3, padding=1)
        self.norm = nn.GroupNorm(2, 10)
        self.fc = nn.Linear(10 * 4 * 4, 5)

    def forward(self, x):
        h = F.max_pool2d(F.relu(self.norm(self.conv(x))), 2)
        return self.fc(F.adaptive_avg_pool2d(h, 4).flatten(1))


model = Learner().cuda()
names = [n for n, p in model.named_parameters()]
rates = {n: torch.full_like(p, 0.05).requires_grad_() for n, p in model.named_parameters()}
optimizer = torch.optim.Adam(list(model.parameters()) + [rates[n] for n in names], lr=1e-3)
mark("model")
for step in range(2):
    meta = 0.0
    optimizer.zero_grad()
    for task in range(2):
        xs = torch.randn(10, 1, 9, 9, device="cuda")
        ys = torch.randint(0, 5, (10,), device="cuda")
        xq = torch.randn(15, 1, 9, 9, device="cuda")
        yq = torch.randint(0, 5, (15,), device="cuda")
        fast = {n: p for n, p in model.named_parameters()}
        for inner in range(2):
            loss = F.cross_entropy(functional_call(model, fast, (xs,)), ys)
            grads = torch.autograd.grad(loss, [fast[n] for n in names], create_graph=True)
            fast = {n: fast[n] - rates[n] * g for n, g in zip(names, grads)}
        query = F.cross_entropy(functional_call(model, fast, (xq,)), yq)
        (query / 2).backward()
        meta += query.item()
        del fast, grads, loss, query
        mark(f"step {step} task {task}")
    optimizer.step()
    mark(f"step {step}")
