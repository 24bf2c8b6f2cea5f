import torch
import torch.nn as nn
import torch.nn.functional as F

class Big(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4096, 4096) for _ in range(24)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return x

def build():
    return Big().to("cuda")

build()
