import torch
import torch.nn as nn


def main():
    net = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 64)).cuda()
    losses = []
    for step in range(3000):
        x = torch.randn(1024, 512, device="cuda")
        loss = net(x).pow(2).mean()
        loss.backward(retain_graph=True)
        losses.append(loss)


main()
