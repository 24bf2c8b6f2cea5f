import torch
from torch import nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.fc1 = nn.Linear(d, 3 * d)
        self.fc2 = nn.Linear(3 * d, d)

    def forward(self, x):
        return x + self.fc2(F.gelu(self.fc1(self.norm(x))))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(60, 200)
        self.b1 = Block(200)
        self.b2 = Block(200)
        self.out = nn.Linear(200, 14)

    def forward(self, x):
        x = self.inp(x)
        with torch.autograd.graph.save_on_cpu(pin_memory=True):
            x = self.b1(x)
        with torch.autograd.graph.save_on_cpu():
            x = self.b2(x)
        return self.out(x)


model = Net().cuda()
optimizer = torch.optim.NAdam(model.parameters(), lr=1e-3)
mark("model")
for step in range(3):
    x = torch.randn(90, 60, device="cuda")
    y = torch.randint(0, 14, (90,), device="cuda")
    loss = F.cross_entropy(model(x), y)
    mark(f"forward {step}")
    optimizer.zero_grad()
    loss.backward()
    mark(f"backward {step}")
    optimizer.step()
    mark(f"step {step}")
