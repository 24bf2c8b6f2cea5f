import torch
from torch import nn
import torch.nn.functional as F


class SSD(nn.Module):
    def __init__(self, classes=5):
        super().__init__()
        self.a = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(2, ceil_mode=True), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(2, ceil_mode=True))
        self.b = nn.Sequential(nn.Conv2d(32, 48, 3, stride=2, padding=1), nn.ReLU(inplace=True))
        self.c = nn.Sequential(nn.Conv2d(48, 48, 3, stride=2, padding=1), nn.ReLU(inplace=True))
        self.scale = nn.Parameter(torch.full((1, 32, 1, 1), 20.0))
        self.boxes = nn.ModuleList([nn.Conv2d(c, 4 * 4, 3, padding=1) for c in (32, 48, 48)])
        self.scores = nn.ModuleList([nn.Conv2d(c, 4 * classes, 3, padding=1) for c in (32, 48, 48)])
        self.classes = classes

    def forward(self, x):
        maps = []
        x = self.a(x)
        maps.append(F.normalize(x, p=2, dim=1) * self.scale)
        x = self.b(x)
        maps.append(x)
        maps.append(self.c(x))
        boxes = torch.cat([m(f).permute(0, 2, 3, 1).contiguous().view(f.size(0), -1) for m, f in zip(self.boxes, maps)], 1)
        scores = torch.cat([m(f).permute(0, 2, 3, 1).contiguous().view(f.size(0), -1) for m, f in zip(self.scores, maps)], 1)
        return boxes.view(x.size(0), -1, 4), scores.view(x.size(0), -1, self.classes)


def box_loss(boxes, scores, truth, labels, classes):
    positive = labels > 0
    count = positive.sum(1, keepdim=True)
    mask = positive.unsqueeze(2).expand_as(boxes)
    location = F.smooth_l1_loss(boxes * mask, truth * mask, reduction="sum")
    each = F.cross_entropy(scores.view(-1, classes), labels.view(-1), reduction="none").view(labels.size(0), -1)
    negatives = each.detach().clone()
    negatives[positive] = 0
    _, order = negatives.sort(1, descending=True)
    _, rank = order.sort(1)
    hard = rank < (3 * count).clamp(max=labels.size(1) - 1)
    confidence = (each * (positive | hard).float()).sum()
    n = count.sum().clamp(min=1).float()
    return location / n, confidence / n


model = SSD().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9, weight_decay=5e-4, nesterov=True)
mark("model")
for step in range(2):
    images = torch.randn(4, 3, 50, 50, device="cuda")
    boxes, scores = model(images)
    truth = torch.rand_like(boxes)
    labels = torch.randint(0, 5, boxes.shape[:2], device="cuda")
    location, confidence = box_loss(boxes, scores, truth, labels, 5)
    loss = location + confidence
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mark(f"step {step}")
