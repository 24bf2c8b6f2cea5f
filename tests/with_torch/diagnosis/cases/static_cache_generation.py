import torch
from torch import nn


class StaticCache:
    def __init__(self, layers, batch, heads, length, dim):
        self.k = [torch.zeros(batch, heads, length, dim, device="cuda") for _ in range(layers)]
        self.v = [torch.zeros(batch, heads, length, dim, device="cuda") for _ in range(layers)]
        self.used = 0

    def update(self, layer, k, v):
        n = k.shape[2]
        self.k[layer][:, :, self.used:self.used + n] = k
        self.v[layer][:, :, self.used:self.used + n] = v
        return self.k[layer][:, :, :self.used + n], self.v[layer][:, :, :self.used + n]


class Block(nn.Module):
    def __init__(self, d=512, h=8):
        super().__init__()
        self.h, self.qkv, self.o = h, nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, cache, layer):
        q, k, v = (t.unflatten(-1, (self.h, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        k, v = cache.update(layer, k, v)
        return x + self.o(nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


blocks = nn.ModuleList([Block() for _ in range(4)]).cuda().eval()


@torch.inference_mode()
def generate(prompt_length, new_tokens):
    cache = StaticCache(4, 4, 8, prompt_length + new_tokens, 64)
    x = torch.randn(4, prompt_length, 512, device="cuda")
    for _ in range(new_tokens):
        h = x
        for i, block in enumerate(blocks):
            h = block(h, cache, i)
        cache.used += x.shape[1]
        x = h[:, -1:]
    return x.cpu()


for request in range(5):
    generate(64, 48)
