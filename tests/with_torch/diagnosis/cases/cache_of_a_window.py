import collections

import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.k = nn.Linear(width, width)
        self.cache = collections.deque(maxlen=32)

    def forward(self, x):
        self.cache.append(self.k(x))
        k = torch.cat(list(self.cache), 1)
        return nn.functional.scaled_dot_product_attention(x, k, k)


model = Decoder().cuda().eval()
with torch.inference_mode():
    x = torch.randn(64, 1, 256, device="cuda")
    for _ in range(400):
        x = model(x)
