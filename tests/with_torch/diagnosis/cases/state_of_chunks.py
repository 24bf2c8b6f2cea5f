import torch
from torch import nn

cell = nn.GRUCell(256, 256).cuda()
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
state = torch.zeros(256, 256, device="cuda")
for chunk in range(20):
    loss = 0
    for step in range(16):
        state = cell(torch.randn(256, 256, device="cuda"), state)
        loss = loss + state.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    state = state.detach()
