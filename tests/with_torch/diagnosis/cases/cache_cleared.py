import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.k = nn.Linear(width, width)
        self.cache = []

    def forward(self, x):
        self.cache.append(self.k(x))
        k = torch.cat(self.cache, 1)
        return nn.functional.scaled_dot_product_attention(x, k, k)


@torch.inference_mode()
def answer(model, length):
    model.cache.clear()
    x = torch.randn(64, 1, 256, device="cuda")
    for _ in range(length):
        x = model(x)
    return x.cpu()


model = Decoder().cuda().eval()
for request in range(20):
    answer(model, 40)
