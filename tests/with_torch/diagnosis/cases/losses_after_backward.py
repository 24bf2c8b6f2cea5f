import torch
from torch import nn

model = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512)).cuda()
opt = torch.optim.AdamW(model.parameters())
losses, best = [], torch.tensor(float("inf"), device="cuda")
for step in range(300):
    x = torch.randn(256, 512, device="cuda")
    loss = (model(x) - x).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append(loss.detach())
    best = torch.minimum(best, loss.detach())
print(torch.stack(losses).mean().item(), best.item())
