import torch
from torch import nn
import torch.nn.functional as F


def squash(x, dim=-1):
    sq = (x ** 2).sum(dim=dim, keepdim=True)
    scale = sq / (1 + sq)
    return scale * x / torch.sqrt(sq + 1e-8)


class PrimaryCaps(nn.Module):
    def __init__(self):
        super().__init__()
        self.capsules = nn.ModuleList([nn.Conv2d(32, 8, 5, stride=2) for _ in range(4)])

    def forward(self, x):
        u = [capsule(x).view(x.size(0), -1, 1) for capsule in self.capsules]
        u = torch.cat(u, dim=-1)
        return squash(u)


class DigitCaps(nn.Module):
    def __init__(self, n_in, d_in, n_out=10, d_out=8):
        super().__init__()
        self.n_out = n_out
        self.W = nn.Parameter(0.01 * torch.randn(1, n_out, n_in, d_out, d_in))

    def forward(self, x):
        b = x.size(0)
        x = x.unsqueeze(1).unsqueeze(4)
        u_hat = torch.matmul(self.W, x).squeeze(-1)
        temp = u_hat.detach()
        logits = torch.zeros(b, self.n_out, u_hat.size(2), 1, device="cuda")
        for it in range(2):
            c = F.softmax(logits, dim=1)
            s = (c * temp).sum(dim=2)
            v = squash(s)
            agreement = torch.matmul(temp, v.unsqueeze(-1))
            logits += agreement
        c = F.softmax(logits, dim=1)
        s = (c * u_hat).sum(dim=2)
        return squash(s)


class CapsNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 32, 5)
        self.primary = PrimaryCaps()
        self.digits = DigitCaps(8 * 6 * 6, 4)
        self.decoder = nn.Sequential(nn.Linear(80, 128), nn.ReLU(inplace=True), nn.Linear(128, 400), nn.Sigmoid())

    def forward(self, x, y):
        h = F.relu(self.conv(x), inplace=True)
        v = self.digits(self.primary(h))
        lengths = torch.norm(v, dim=2)
        masked = v * y.unsqueeze(-1)
        rec = self.decoder(masked.view(x.size(0), -1))
        return lengths, rec


model = CapsNet().cuda()
optimizer = torch.optim.Adam(model.parameters())
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
mark("model")
for step in range(3):
    x = torch.rand(6, 1, 20, 20, device="cuda")
    labels = torch.randint(0, 10, (6,), device="cuda")
    y = torch.eye(10, device="cuda").index_select(dim=0, index=labels)
    lengths, rec = model(x, y)
    left = F.relu(0.9 - lengths, inplace=True) ** 2
    right = F.relu(lengths - 0.1, inplace=True) ** 2
    margin = (y * left + 0.5 * (1.0 - y) * right).sum(dim=1).mean()
    rec_loss = F.mse_loss(rec, x.view(6, -1), reduction="sum") / 6
    loss = margin + 0.0005 * rec_loss
    mark(f"forward {step}")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    mark(f"step {step}")
