import torch
import torch.nn as nn

net = nn.Sequential(*[nn.Sequential(nn.Linear(512, 512), nn.ReLU()) for _ in range(12)]).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def train(steps):
    net.train()
    for _ in range(steps):
        loss = net(torch.randn(1024, 512, device="cuda")).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def validate():
    net.eval()
    total = 0.0
    for _ in range(4):
        x = torch.randn(8192, 512, device="cuda")
        out = net(x)
        total += out.pow(2).mean().item()
    return total


for epoch in range(3):
    train(5)
    validate()
