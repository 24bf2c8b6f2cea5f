import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.q = nn.Linear(width, width)
        self.k = nn.Linear(width, width)
        self.v = nn.Linear(width, width)
        self.cache = []

    def forward(self, x):
        self.cache.append((self.k(x), self.v(x)))
        k = torch.cat([one[0] for one in self.cache], 1)
        v = torch.cat([one[1] for one in self.cache], 1)
        return nn.functional.scaled_dot_product_attention(self.q(x), k, v)


@torch.inference_mode()
def answer(model, length):
    x = torch.randn(64, 1, 256, device="cuda")
    for _ in range(length):
        x = model(x)
    return x


model = Decoder().cuda().eval()
for request in range(20):
    answer(model, 16)
