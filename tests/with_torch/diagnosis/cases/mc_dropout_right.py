import torch
from torch import nn

net = nn.Sequential(nn.Linear(128, 2048), nn.ReLU(), nn.Dropout(0.3), nn.Linear(2048, 1)).cuda().train()
x = torch.randn(1024, 128, device="cuda")
with torch.no_grad():
    preds = torch.stack([net(x) for _ in range(100)])
print(preds.std(0).mean().item())
