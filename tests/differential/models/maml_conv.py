import torch
from torch import nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1 = nn.Parameter(torch.randn(8, 3, 3, 3) * 0.1)
        self.b1 = nn.Parameter(torch.zeros(8))
        self.w2 = nn.Parameter(torch.randn(16, 8, 3, 3) * 0.1)
        self.b2 = nn.Parameter(torch.zeros(16))
        self.w3 = nn.Parameter(torch.randn(5, 256) * 0.1)
        self.b3 = nn.Parameter(torch.zeros(5))

    def forward(self, x, params):
        x = F.relu(F.conv2d(x, params[0], params[1], padding=1))
        x = F.avg_pool2d(x, 2)
        x = F.relu(F.conv2d(x, params[2], params[3], padding=1))
        x = F.avg_pool2d(x, 2)
        return F.linear(x.flatten(1), params[4], params[5])


model = Net().cuda()
meta = torch.optim.SGD(model.parameters(), lr=1e-2)
mark("model")
for step in range(2):
    meta.zero_grad()
    meta_loss = 0.0
    for task in range(2):
        xs = torch.randn(5, 3, 16, 16, device="cuda")
        ys = torch.arange(5, device="cuda")
        weights = [p for p in model.parameters()]
        loss = F.cross_entropy(model(xs, weights), ys)
        grads = torch.autograd.grad(loss, weights, create_graph=True)
        weights = [w - 0.01 * g for w, g in zip(weights, grads)]
        meta_loss = meta_loss + F.cross_entropy(model(xs, weights), ys)
    meta_loss.backward()
    meta.step()
    mark(f"step {step}")
