import torch
from torch import nn
import torch.nn.functional as F


def off_diagonal(m):
    n = m.size(0)
    return m.flatten()[:-1].view(n - 1, n + 1)[:, 1:].flatten()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv1d(2, 16, 5, stride=2), nn.BatchNorm1d(16), nn.ReLU(), nn.AdaptiveAvgPool1d(3), nn.Flatten())
        self.expander = nn.Sequential(nn.Linear(48, 65), nn.BatchNorm1d(65), nn.ReLU(True), nn.Linear(65, 65, bias=False))

    def forward(self, x):
        return self.expander(self.backbone(x))


def vicreg(a, b):
    n, d = a.shape
    invariance = F.mse_loss(a, b)
    a = a - a.mean(dim=0)
    b = b - b.mean(dim=0)
    std_a = torch.sqrt(a.var(dim=0) + 1e-4)
    std_b = torch.sqrt(b.var(dim=0) + 1e-4)
    variance = F.relu(1 - std_a).mean() / 2 + F.relu(1 - std_b).mean() / 2
    cov_a = (a.T @ a) / (n - 1)
    cov_b = (b.T @ b) / (n - 1)
    covariance = off_diagonal(cov_a).pow_(2).sum().div(d) + off_diagonal(cov_b).pow_(2).sum().div(d)
    return 25 * invariance + 25 * variance + covariance


def barlow(a, b, lam=5e-3):
    n = a.size(0)
    a = (a - a.mean(0)) / a.std(0)
    b = (b - b.mean(0)) / b.std(0)
    c = a.T @ b / n
    on = torch.diagonal(c).add(-1).pow(2).sum()
    return on + lam * off_diagonal(c).pow(2).sum()


model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9, weight_decay=1e-6, nesterov=True)
mark("model")
for step in range(3):
    x = torch.randn(22, 2, 50, device="cuda")
    shift = x.roll(3, dims=-1)
    scaled = x * (0.8 + 0.4 * torch.rand(22, 1, 1, device="cuda"))
    z = model(torch.cat([shift, scaled]))
    a, b = z[:22], z[22:]
    loss = vicreg(a, b) if step < 2 else barlow(a, b)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mark(f"step {step}")
model.eval()
with torch.inference_mode():
    bank = model.backbone(torch.randn(70, 2, 50, device="cuda"))
    labels = torch.randint(0, 4, (70,), device="cuda")
    query = model.backbone(torch.randn(12, 2, 50, device="cuda"))
    distance = torch.cdist(query, bank)
    near = distance.topk(5, largest=False).indices
    votes = F.one_hot(labels[near], 4).sum(1).argmax(-1)
mark("knn")
