import torch
from torch import nn


def repackage(h):
    """Meant to cut the history."""
    if isinstance(h, torch.Tensor):
        return h
    return tuple(repackage(v) for v in h)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(128, 256, num_layers=2)
        self.out = nn.Linear(256, 12)


model = Tagger().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
criterion = nn.CrossEntropyLoss()
h = torch.zeros(2, 64, 256, device="cuda")
c = torch.zeros(2, 64, 256, device="cuda")
for batch in range(2000):
    x = torch.randn(35, 64, 128, device="cuda")
    y = torch.zeros(35 * 64, dtype=torch.long, device="cuda")
    out, (h, c) = model.lstm(x, (h, c))
    loss = criterion(model.out(out).flatten(0, 1), y)
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
    h, c = repackage((h, c))
