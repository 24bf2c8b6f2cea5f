import torch
from torch import nn
from torch.nn import functional as F

proj = nn.ModuleDict({n: nn.Linear(512, 512) for n in "qkvo"}).cuda().eval()


@torch.no_grad()
def answer(prompt, limit=96):
    keys = values = None
    x = prompt
    out = []
    for _ in range(limit):
        q, k, v = (proj[n](x) for n in "qkv")
        keys = k if keys is None else torch.cat([keys, k], 1)
        values = v if values is None else torch.cat([values, v], 1)
        x = proj["o"](F.scaled_dot_product_attention(q, keys, values))[:, -1:]
        out.append(x)
    return torch.cat(out, 1)


for i in range(6):
    print(answer(torch.randn(8, 128, 512, device="cuda")).shape)
