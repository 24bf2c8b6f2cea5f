import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width=512):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.keys = None
        self.values = None

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        if self.keys is None:
            self.keys, self.values = k, v
        else:
            self.keys = torch.cat([self.keys, k], 1)
            self.values = torch.cat([self.values, v], 1)
        return nn.functional.scaled_dot_product_attention(q, self.keys, self.values)


layers = nn.ModuleList([Attention() for _ in range(8)]).cuda().half()
with torch.inference_mode():
    x = torch.randn(16, 1, 512, device="cuda", dtype=torch.half)
    for token in range(6000):
        for layer in layers:
            x = x + layer(x)
