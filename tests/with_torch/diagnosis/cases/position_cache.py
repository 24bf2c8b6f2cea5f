import math

import torch
from torch import nn


class PositionalEncoding2d(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.channels = channels
        self._cache = {}

    def grid(self, h, w, device):
        y = torch.arange(h, device=device)[:, None].expand(h, w)
        x = torch.arange(w, device=device)[None].expand(h, w)
        frequency = torch.exp(torch.arange(self.channels // 2, device=device) * -math.log(1e4) / self.channels)
        return torch.cat([torch.sin(y[None] * frequency[:, None, None]),
                          torch.cos(x[None] * frequency[:, None, None])])

    def forward(self, x):
        h, w = x.shape[-2:]
        if (h, w) not in self._cache:
            self._cache[(h, w)] = self.grid(h, w, x.device)
        return x + self._cache[(h, w)]


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 64, 3, stride=2, padding=1)
        self.position = PositionalEncoding2d(64)
        self.head = nn.Conv2d(64, 4, 1)

    def forward(self, x):
        return self.head(self.position(self.stem(x)))


detector = Detector().cuda().eval()
sizes = [(h, w) for h in range(128, 512, 4) for w in range(128, 512, 4)]
with torch.inference_mode():
    for h, w in sizes:
        boxes = detector(torch.rand(1, 3, h, w, device="cuda"))
        boxes.amax((2, 3)).cpu()
