import torch
from torch import nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.projection = nn.Sequential(nn.Linear(32, 64, bias=False), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 32))

    def forward(self, x):
        return F.normalize(self.projection(self.features(x)), dim=1)


def info_nce(features, batch, temperature=0.1):
    labels = torch.cat([torch.arange(batch) for i in range(2)], dim=0)
    labels = (labels.unsqueeze(0) == labels.unsqueeze(1)).float().cuda()
    similarity = torch.matmul(features, features.T)
    mask = torch.eye(labels.shape[0], dtype=torch.bool).cuda()
    similarity = similarity.masked_fill(mask, -1e9)
    positives = (labels.masked_fill(mask, 0.0)).argmax(dim=1)
    return similarity / temperature, positives


model = Encoder().cuda()
opt = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9, weight_decay=1e-4)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=2, eta_min=0)
criterion = nn.CrossEntropyLoss().cuda()
mark("model")
for step in range(3):
    images = [torch.randn(8, 3, 24, 24) for _ in range(2)]
    x = torch.cat(images, dim=0).cuda()
    features = model(x)
    logits, labels = info_nce(features, 8)
    loss = criterion(logits, labels)
    mark(f"forward {step}")
    opt.zero_grad()
    loss.backward()
    opt.step()
    scheduler.step()
    mark(f"step {step}")
