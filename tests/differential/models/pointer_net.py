import torch
from torch import nn
import torch.nn.functional as F


class PointerNet(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.embed = nn.Linear(2, width)
        self.encoder = nn.LSTM(width, width, batch_first=True)
        self.decoder = nn.LSTMCell(width, width)
        self.w1 = nn.Linear(width, width, bias=False)
        self.w2 = nn.Linear(width, width, bias=False)
        self.v = nn.Linear(width, 1, bias=False)
        self.start = nn.Parameter(torch.rand(width))

    def forward(self, points, greedy=False):
        batch, n, _ = points.shape
        e = self.embed(points)
        enc, (h, c) = self.encoder(e)
        h, c = h[0], c[0]
        keys = self.w1(enc)
        mask = torch.zeros(batch, n, dtype=torch.bool, device=points.device)
        x = self.start.unsqueeze(0).expand(batch, -1)
        logs, tour = [], []
        for _ in range(n):
            h, c = self.decoder(x, (h, c))
            scores = self.v(torch.tanh(keys + self.w2(h).unsqueeze(1))).squeeze(-1)
            scores = scores.masked_fill(mask, float("-inf"))
            log_p = F.log_softmax(scores, dim=1)
            if greedy:
                choice = log_p.argmax(1)
            else:
                choice = torch.multinomial(log_p.exp(), 1).squeeze(1)
            logs.append(log_p.gather(1, choice.unsqueeze(1)).squeeze(1))
            tour.append(choice)
            mask = mask.scatter(1, choice.unsqueeze(1), True)
            x = e[torch.arange(batch, device=points.device), choice]
        return torch.stack(logs, 1), torch.stack(tour, 1)


def length(points, tour):
    ordered = points.gather(1, tour.unsqueeze(2).expand(-1, -1, 2))
    return (ordered - ordered.roll(-1, dims=1)).norm(dim=2).sum(1)


model = PointerNet().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
baseline = None
mark("model")
for step in range(2):
    points = torch.rand(32, 8, 2, device="cuda")
    logs, tour = model(points)
    with torch.no_grad():
        cost = length(points, tour)
    baseline = cost.mean() if baseline is None else 0.9 * baseline + 0.1 * cost.mean()
    loss = ((cost - baseline) * logs.sum(1)).mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
    optimizer.step()
    mark(f"step {step}")
model.eval()
with torch.no_grad():
    _, tour = model(torch.rand(16, 8, 2, device="cuda"), greedy=True)
mark("greedy")
