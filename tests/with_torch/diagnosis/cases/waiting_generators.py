import torch
from torch import nn

model = nn.Sequential(nn.Linear(256, 2048), nn.ReLU(), nn.Linear(2048, 256)).cuda().eval()


def stream(prompt):
    x = torch.randn(512, 256, device="cuda")
    with torch.no_grad():
        hidden = model(x)
    yield hidden.shape
    yield hidden.sum()


pending = []
for request in range(150):
    tokens = stream(request)
    next(tokens)
    pending.append(tokens)
