import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(*[nn.Sequential(nn.Linear(512, 512), nn.ReLU()) for _ in range(8)]).cuda()
opt = torch.optim.AdamW(net.parameters())
for epoch in range(3):
    net.train()
    for i in range(5):
        loss = net(torch.randn(512, 512, device="cuda")).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    outs = []
    with torch.inference_mode():
        for i in range(10):
            outs.append(net(torch.randn(8192, 512, device="cuda")).cpu())
    torch.cat(outs)
