import torch
from torch import nn
import torch.nn.functional as F


class SpeechModel(nn.Module):
    def __init__(self, features=20, hidden=24, classes=12):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(features, hidden, 5, stride=2, padding=2), nn.BatchNorm1d(hidden), nn.Hardtanh(0, 20))
        self.rnn = nn.GRU(hidden, hidden, bidirectional=True, batch_first=True)
        self.fc = nn.Linear(2 * hidden, classes)

    def forward(self, x):
        x = self.conv(x).transpose(1, 2)
        out, _ = self.rnn(x)
        return F.log_softmax(self.fc(out), dim=-1)


model = SpeechModel().cuda()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
criterion = nn.CTCLoss(blank=0, zero_infinity=True)
mark("model")
for step in range(2):
    x = torch.randn(4, 20, 24, device="cuda")
    targets = torch.randint(1, 12, (4, 4), device="cuda")
    logp = model(x).transpose(0, 1)
    loss = criterion(logp, targets, torch.full((4,), 12, dtype=torch.long), torch.full((4,), 4, dtype=torch.long))
    mark(f"forward {step}")
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 400)
    opt.step()
    mark(f"step {step}")
