import torch
from torch import nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1 = nn.Parameter(torch.randn(40, 1) * 0.1)
        self.b1 = nn.Parameter(torch.zeros(40))
        self.w2 = nn.Parameter(torch.randn(40, 40) * 0.1)
        self.b2 = nn.Parameter(torch.zeros(40))
        self.w3 = nn.Parameter(torch.randn(1, 40) * 0.1)
        self.b3 = nn.Parameter(torch.zeros(1))

    def forward(self, x, params):
        x = F.relu(F.linear(x, params[0], params[1]))
        x = F.relu(F.linear(x, params[2], params[3]))
        return F.linear(x, params[4], params[5])


model = Net().cuda()
meta = torch.optim.Adam(model.parameters(), lr=1e-3)
mark("model")
for step in range(2):
    meta.zero_grad()
    meta_loss = 0.0
    for task in range(2):
        amplitude = torch.rand(1, device="cuda") * 4.9 + 0.1
        support = torch.rand(10, 1, device="cuda") * 10 - 5
        query = torch.rand(10, 1, device="cuda") * 10 - 5
        weights = [p for p in model.parameters()]
        for inner in range(2):
            loss = F.mse_loss(model(support, weights), amplitude * torch.sin(support))
            grads = torch.autograd.grad(loss, weights, create_graph=True)
            weights = [w - 0.01 * g for w, g in zip(weights, grads)]
        meta_loss = meta_loss + F.mse_loss(model(query, weights), amplitude * torch.sin(query))
    mark(f"inner {step}")
    meta_loss = meta_loss / 2
    meta_loss.backward()
    meta.step()
    mark(f"step {step}")
