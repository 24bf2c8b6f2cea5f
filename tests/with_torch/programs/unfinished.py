"""Steps beside a model and an optimizer whose constructors failed, which their errors hold."""
import torch
from torch import nn


class Unfinished(nn.Module):
    def __init__(self):
        self.width = 8
        raise ValueError("no layers")


def attempt(make):
    try:
        make()
    except ValueError as error:
        return error


kept = [attempt(Unfinished), attempt(lambda: torch.optim.Adam([]))]
model = nn.Linear(512, 512, device="cuda")
optimizer = torch.optim.Adam(model.parameters())
for _ in range(3):
    model(torch.ones(8, 512, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
