import torch
from torch import nn

features = {}


def keep(name):
    def hook(module, inputs, output):
        features[name] = output
    return hook


model = nn.Sequential(nn.Linear(128, 1024), nn.ReLU(), nn.Linear(1024, 10)).cuda().eval()
for name, layer in model.named_children():
    layer.register_forward_hook(keep(name))

with torch.no_grad():
    for batch in range(100):
        model(torch.randn(512, 128, device="cuda"))
        features["1"].mean().cpu()
