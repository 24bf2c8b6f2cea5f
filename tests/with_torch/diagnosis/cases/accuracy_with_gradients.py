import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(*[nn.Sequential(nn.Linear(512, 512), nn.GELU()) for _ in range(10)]).cuda()
opt = torch.optim.AdamW(net.parameters())

def accuracy(model, x, y):
    model.eval()
    pred = model(x).argmax(1)
    model.train()
    return (pred == y).float().mean().item()

for step in range(12):
    x = torch.randn(512, 512, device="cuda")
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 3 == 2:
        accuracy(net, torch.randn(16384, 512, device="cuda"), torch.randint(0, 512, (16384,), device="cuda"))
