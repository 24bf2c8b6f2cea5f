import torch
import torch.nn as nn
import torch.nn.functional as F

class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)
        self.cache = []

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        self.cache.append((k, v))
        k = torch.cat([k for k, _ in self.cache], 1)
        v = torch.cat([v for _, v in self.cache], 1)
        return self.out(F.scaled_dot_product_attention(q, k, v))

model = nn.Sequential(*[Block(256) for _ in range(2)]).cuda()

@torch.inference_mode()
def answer(prompts):
    x = torch.randn(prompts, 1, 256, device="cuda")
    for _ in range(16):
        x = model(x)
    return x

for request in range(200):
    answer(256)
