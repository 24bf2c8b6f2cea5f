import torch
from torch import nn
import torch.nn.functional as F


class FNetLayer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1 = nn.LayerNorm(width, device="cuda")
        self.norm2 = nn.LayerNorm(width, device="cuda")
        self.inner = nn.Linear(width, 4 * width, device="cuda")
        self.outer = nn.Linear(4 * width, width, device="cuda")

    def forward(self, x):
        mixed = torch.fft.fft2(x).real
        x = self.norm1(x + mixed)
        return self.norm2(x + self.outer(F.gelu(self.inner(x))))


class FNet(nn.Module):
    def __init__(self, words, width, depth):
        super().__init__()
        self.embed = nn.Embedding(words, width, device="cuda")
        self.layers = nn.ModuleList([FNetLayer(width) for _ in range(depth)])
        self.head = nn.Linear(width, words, device="cuda")

    def forward(self, x):
        x = self.embed(x)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


model = FNet(500, 64, 2)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(2):
    x = torch.randint(0, 500, (4, 48), device="cuda")
    loss = F.cross_entropy(model(x).view(-1, 500), x.view(-1))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
