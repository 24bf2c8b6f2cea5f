import torch
from torch import nn

from tools.writer import SummaryWriter

writer = SummaryWriter("runs/exp1")
net = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1024)).cuda()
optimizer = torch.optim.Adam(net.parameters())
global_step = 0
for epoch in range(100):
    for _ in range(5):
        x = torch.randn(256, 1024, device="cuda")
        loss = (net(x) - x).pow(2).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        writer.add_scalar("loss", loss.item(), global_step)
        global_step += 1
    for name, parameter in net.named_parameters():
        writer.add_histogram(name, parameter.detach().clone(), global_step)
