"""Trains a stack of blocks of some kind, checkpointed or not.

    python checkpointed.py KIND checkpointed|plain [--head WIDTH]

A narrow head has the peak in the blocks' backward, a wide one at the loss. The last line is the most
that was allocated.
"""
import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

WIDTH = 128


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        n, length, _ = x.shape
        parts = self.qkv(self.norm1(x)).chunk(3, -1)
        q, k, v = (part.view(n, length, 4, -1).transpose(1, 2) for part in parts)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(x.shape))
        return x + self.mlp(self.norm2(x))


class Scores(Transformer):
    """Attention that keeps its scores."""

    def forward(self, x):
        n, length, _ = x.shape
        parts = self.qkv(self.norm1(x)).chunk(3, -1)
        q, k, v = (part.view(n, length, 4, -1).transpose(1, 2) for part in parts)
        y = F.dropout((q @ k.transpose(-2, -1) / 8).softmax(-1), 0.1) @ v
        x = x + self.out(y.transpose(1, 2).reshape(x.shape))
        return x + self.mlp(self.norm2(x))


class Relu(nn.Module):
    """Its last op saves what comes out."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.ReLU(),
                                    nn.Linear(4 * WIDTH, WIDTH), nn.ReLU())

    def forward(self, x):
        return self.layers(x)


class Linears(nn.Module):
    """Its last op saves what goes in."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return self.second(F.silu(self.first(x)))


class Dropout(Linears):
    def forward(self, x):
        return x + F.dropout(self.second(torch.tanh(self.first(x))), 0.1)


class Sums(Linears):
    """Nothing at its beginning saves what goes in."""

    def forward(self, x):
        return self.second(self.first((x + 1) * 2).relu()) * 0.5


class Wide(nn.Module):
    """What comes out is wider than all that it saves."""

    def __init__(self):
        super().__init__()
        self.narrow, self.wide = nn.Linear(WIDTH, 16), nn.Linear(16, 8 * WIDTH)

    def forward(self, x):
        return x + self.wide(self.narrow(x)).view(*x.shape, 8).mean(-1)


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv1d(64, 64, 3, padding=1), nn.BatchNorm1d(64), nn.ReLU(),
                                    nn.Conv1d(64, 64, 3, padding=1))

    def forward(self, x):
        return x + self.layers(x)


KINDS = {kind.__name__.lower(): kind
         for kind in (Transformer, Scores, Relu, Linears, Dropout, Sums, Wide, Convolutions)}


class Net(nn.Module):
    def __init__(self, kind, is_checkpointed, head):
        super().__init__()
        self.is_checkpointed = is_checkpointed
        self.blocks = nn.ModuleList([KINDS[kind]() for _ in range(4)])
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, head)

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.is_checkpointed else block(x)
        return self.head(self.norm(x))


parser = argparse.ArgumentParser()
parser.add_argument("kind", choices=KINDS)
parser.add_argument("way", choices=["checkpointed", "plain"])
parser.add_argument("--head", type=int, default=8)
arguments = parser.parse_args()
net = Net(arguments.kind, arguments.way == "checkpointed", arguments.head).cuda()
optimizer = torch.optim.SGD(net.parameters(), momentum=0.9)
for _ in range(4):
    loss = net(torch.randn(64, 64, WIDTH, device="cuda")).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print(torch.cuda.max_memory_allocated())
