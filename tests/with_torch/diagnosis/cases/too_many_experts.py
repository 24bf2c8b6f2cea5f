import torch
from torch import nn


class Mixture(nn.Module):
    def __init__(self, experts, width):
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.experts = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(experts))

    def forward(self, x):
        weights = self.gate(x).softmax(-1)
        return sum(w.unsqueeze(-1) * e(x) for w, e in zip(weights.unbind(-1), self.experts))


with torch.device("cuda"):
    model = Mixture(400, 1024)
print(sum(p.numel() for p in model.parameters()))
