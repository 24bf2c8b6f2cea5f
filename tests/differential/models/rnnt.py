import torch
from torch import nn
import torch.nn.functional as F


class RNNT(nn.Module):
    def __init__(self, features=20, hidden=48, vocabulary=15):
        super().__init__()
        self.encoder = nn.LSTM(features, hidden, num_layers=2, bidirectional=True, batch_first=True)
        self.project = nn.Linear(2 * hidden, hidden)
        self.embed = nn.Embedding(vocabulary, hidden, padding_idx=0)
        self.predictor = nn.GRU(hidden, hidden, batch_first=True)
        self.joint = nn.Linear(hidden, vocabulary)

    def forward(self, x, y):
        e, _ = self.encoder(x)
        e = self.project(e)
        d, _ = self.predictor(self.embed(F.pad(y, (1, 0))))
        return self.joint(torch.tanh(e.unsqueeze(2) + d.unsqueeze(1)))


def transducer_loss(logits, y):
    logs = F.log_softmax(logits, dim=-1)
    b, t, u, _ = logs.shape
    blank = logs[..., 0]
    labels = y[:, None, :, None].expand(-1, t, -1, -1)
    emit = logs[:, :, :-1].gather(3, labels).squeeze(3)
    alpha = torch.full((b, u), float("-inf"), device=logs.device)
    rows = []
    first = torch.cat([torch.zeros(b, 1, device=logs.device), emit[:, 0].cumsum(1)], dim=1)
    rows.append(first)
    for i in range(1, t):
        before = rows[-1] + blank[:, i - 1]
        cells = [before[:, 0]]
        for j in range(1, u):
            cells.append(torch.logaddexp(before[:, j], cells[-1] + emit[:, i, j - 1]))
        rows.append(torch.stack(cells, 1))
    return -(rows[-1][:, -1] + blank[:, -1, -1]).mean()


model = RNNT().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=10)
mark("model")
for step in range(2):
    x = torch.randn(3, 7, 20, device="cuda")
    y = torch.randint(1, 15, (3, 4), device="cuda")
    loss = transducer_loss(model(x, y), y)
    loss.backward()
    optimizer.step()
    scheduler.step()
    optimizer.zero_grad(set_to_none=False)
    mark(f"step {step}")
