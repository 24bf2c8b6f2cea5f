"""Trains a GPT-2 of 124 million parameters on random tokens, as any training script does: nothing in
it knows of ohm.

    python train_gpt2.py --batch 8
    ohm exec --gpu l4-24g -- python train_gpt2.py --batch 64
    ohm fit --gpu l4-24g --vary batch=1..64 -- python train_gpt2.py --batch 64
"""
import argparse

import torch
from torch import nn
from torch.nn import functional as F

VOCABULARY = 50257


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm_1 = nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width)
        self.projection = nn.Linear(width, width)
        self.norm_2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def attention(self, x):
        batch, length, width = x.shape
        shape = (batch, length, self.heads, width // self.heads)
        q, k, v = (t.view(shape).transpose(1, 2) for t in self.query_key_value(x).split(width, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.projection(y.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.attention(self.norm_1(x))
        return x + self.down(F.gelu(self.up(self.norm_2(x)), approximate="tanh"))


class GPT2(nn.Module):
    def __init__(self, layers=12, width=768, heads=12, context=1024):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, width)
        self.positions = nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, VOCABULARY, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, tokens, targets):
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.view(-1, VOCABULARY), targets.view(-1))


def train(model, batch, context, steps):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(steps):
        tokens = torch.randint(VOCABULARY, (batch, context + 1)).cuda()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(tokens[:, :-1], tokens[:, 1:].contiguous())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main():
    parser = argparse.ArgumentParser(description="Train a GPT-2 on random tokens")
    parser.add_argument("--batch", type=int, default=8, help="sequences in a batch")
    parser.add_argument("--context", type=int, default=1024, help="tokens in a sequence")
    parser.add_argument("--steps", type=int, default=3)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    model = GPT2(context=arguments.context).cuda()
    train(model, arguments.batch, arguments.context, arguments.steps)
    peak = torch.cuda.max_memory_allocated()
    print(f"batch {arguments.batch}: {arguments.steps} steps, {peak / 2**30:.2f} GiB at the peak")


if __name__ == "__main__":
    main()
