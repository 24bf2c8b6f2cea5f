import torch
import torch.nn as nn
import torch.nn.functional as F

def train():
    net = nn.Sequential(nn.Linear(512, 1024), nn.Tanh(), nn.Linear(1024, 512)).cuda()
    opt = torch.optim.Adam(net.parameters())
    running = torch.zeros(1, device="cuda")
    for epoch in range(20):
        for i in range(50):
            x = torch.randn(512, 512, device="cuda")
            loss = F.mse_loss(net(x), x)
            opt.zero_grad()
            loss.backward()
            opt.step()
            val = F.l1_loss(net(x), x)
            running += val
        print(epoch, (running / 50).item())

train()
