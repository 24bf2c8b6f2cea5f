import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, width, heads=8):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x, layer_past=None):
        q, k, v = map(self.split, self.qkv(x).chunk(3, -1))
        if layer_past is not None:
            past_key, past_value = layer_past
            k = torch.cat((past_key, k), dim=-2)
            v = torch.cat((past_value, v), dim=-2)
        y = F.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).flatten(2)), (k, v)


class Decoder(nn.Module):
    def __init__(self, layers, width):
        super().__init__()
        self.layers = nn.ModuleList([Attention(width) for _ in range(layers)])

    def forward(self, x, past_key_values=None):
        presents = ()
        for i, layer in enumerate(self.layers):
            y, present = layer(x, past_key_values[i] if past_key_values else None)
            x = x + y
            presents += (present,)
        return x, presents
