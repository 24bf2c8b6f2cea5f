from dataclasses import dataclass, replace

import torch
from torch import nn, Tensor


@dataclass
class State:
    hidden: Tensor
    cell: Tensor
    step: int = 0


class Controller(nn.Module):
    def __init__(self, n_in=128, n_hidden=512):
        super().__init__()
        self.lstm = nn.LSTMCell(n_in, n_hidden)
        self.head = nn.Linear(n_hidden, n_in)

    def initial(self, batch):
        zeros = torch.zeros(batch, 512, device="cuda")
        return State(zeros, zeros)

    def forward(self, x, state):
        hidden, cell = self.lstm(x, (state.hidden, state.cell))
        return self.head(hidden), replace(state, hidden=hidden, cell=cell, step=state.step + 1)


@torch.enable_grad()
def follow(controller, stream):
    state = controller.initial(1024)
    errors = []
    for x in stream:
        prediction, state = controller(x, state)
        errors.append((prediction - x).pow(2).mean().item())
    return errors


controller = Controller().cuda()
stream = (torch.randn(1024, 128, device="cuda") for _ in range(5000))
follow(controller, stream)
