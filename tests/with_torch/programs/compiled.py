"""torch.compile with inductor: what eager mode keeps for backward is fused away."""
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        hidden = self.up(self.norm(x))
        hidden = hidden * torch.sigmoid(1.702 * hidden)
        return x + self.down(hidden)


def peak_of(model, x):
    for _ in range(2):
        model(x).square().mean().backward()
        model.zero_grad()
    torch.cuda.reset_peak_memory_stats()
    model(x).square().mean().backward()
    model.zero_grad()
    return torch.cuda.max_memory_allocated()


torch.manual_seed(0)
blocks = nn.Sequential(*[Block(256) for _ in range(4)]).cuda()
batch = torch.randn(4096, 256, device="cuda")
eager = peak_of(blocks, batch)
compiled = peak_of(torch.compile(blocks), batch)
assert compiled < 0.8 * eager, (compiled, eager)
print("eager", eager)
print("peak", compiled, torch.cuda.max_memory_reserved())
