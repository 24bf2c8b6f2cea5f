import torch
from torch import nn

net = nn.Sequential(nn.Linear(256, 1024), nn.Tanh(), nn.Linear(1024, 1024), nn.Tanh(), nn.Linear(1024, 1)).cuda()
lr = 1e-3


def sgd():
    with torch.no_grad():
        for p in net.parameters():
            p -= lr * p.grad
            p.grad.zero_()


for step in range(1000):
    x = torch.randn(512, 256, device="cuda")
    loss = net(x).pow(2).mean()
    loss.backward(create_graph=True)
    sgd()
