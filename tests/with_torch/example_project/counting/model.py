"""A causal transformer of one layer."""
import torch
from torch import nn
from torch.nn import functional as F

from counting.data import LONGEST, VOCABULARY


class CountingModel(nn.Module):
    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads = heads
        self.tokens = nn.Embedding(VOCABULARY + 1, width)
        self.positions = nn.Embedding(LONGEST, width)
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.projection = nn.Linear(width, width)
        self.feed_forward = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.head = nn.Linear(width, VOCABULARY)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        hidden = self.tokens(tokens) + self.positions(places)
        hidden = hidden + self.attend(self.norm(hidden))
        hidden = hidden + self.feed_forward(hidden)
        return self.head(hidden)

    def attend(self, hidden):
        batch, length, width = hidden.shape
        parts = self.qkv(hidden).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(*parts, is_causal=True)
        return self.projection(attended.transpose(1, 2).reshape(batch, length, width))

    @torch.no_grad()
    def generate(self, tokens, count):
        """Appends the most likely token `count` times."""
        for _ in range(count):
            likeliest = self(tokens[:, -LONGEST:])[:, -1].argmax(dim=-1, keepdim=True)
            tokens = torch.cat([tokens, likeliest], dim=1)
        return tokens
