import torch
from torch import nn
import torch.nn.functional as F


class Head(nn.Module):
    def __init__(self, channels, classes):
        super().__init__()
        self.tower = nn.Sequential(nn.Conv2d(channels, 32, 3, padding=1), nn.GroupNorm(4, 32), nn.ReLU())
        self.cls = nn.Conv2d(32, classes, 3, padding=1)
        self.box = nn.Conv2d(32, 4, 3, padding=1)
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x):
        t = self.tower(x)
        return self.cls(t), F.relu(self.box(t) * self.scale)


class Detector(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.c1 = nn.Conv2d(3, 24, 3, stride=4, padding=1)
        self.c2 = nn.Conv2d(24, 36, 3, stride=2, padding=1)
        self.c3 = nn.Conv2d(36, 48, 3, stride=2, padding=1)
        self.heads = nn.ModuleList([Head(c, classes) for c in (24, 36, 48)])

    def forward(self, x):
        features = []
        for conv in (self.c1, self.c2, self.c3):
            x = F.relu(conv(x))
            features.append(x)
        cls, box = [], []
        for f, head in zip(features, self.heads):
            c, b = head(f)
            cls.append(c.permute(0, 2, 3, 1).flatten(1, 2))
            box.append(b.permute(0, 2, 3, 1).flatten(1, 2))
        return torch.cat(cls, dim=1), torch.cat(box, dim=1)


def giou_loss(p, t):
    area_p = (p[:, 0] + p[:, 2]) * (p[:, 1] + p[:, 3])
    area_t = (t[:, 0] + t[:, 2]) * (t[:, 1] + t[:, 3])
    lt = torch.min(p[:, :2], t[:, :2])
    rb = torch.min(p[:, 2:], t[:, 2:])
    inter = (lt + rb).prod(dim=1)
    union = area_p + area_t - inter
    hull = (torch.max(p[:, :2], t[:, :2]) + torch.max(p[:, 2:], t[:, 2:])).prod(dim=1)
    iou = inter / union.clamp(min=1e-6)
    return 1 - (iou - (hull - union) / hull.clamp(min=1e-6))


def focal(logits, target, alpha=0.25, gamma=2.0):
    p = torch.sigmoid(logits)
    ce = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
    p_t = p * target + (1 - p) * (1 - target)
    return (alpha * (1 - p_t) ** gamma * ce).sum()


model = Detector(6).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.05)
mark("model")
for step in range(2):
    images = torch.rand(2, 3, 61, 77, device="cuda")
    cls, box = model(images)
    losses = []
    for i in range(2):
        count = 5 + 3 * i + step
        where = torch.randperm(cls.size(1), device="cuda")[:count]
        target = torch.zeros_like(cls[i])
        target[where, torch.randint(0, 6, (count,), device="cuda")] = 1.0
        wanted = torch.rand(count, 4, device="cuda") * 9
        cls_loss = focal(cls[i], target) / count
        box_loss = giou_loss(box[i][where], wanted).sum() / count
        losses.append(cls_loss + 2.0 * box_loss)
    loss = torch.stack(losses).mean()
    mark(f"losses {step}")
    optimizer.zero_grad()
    loss.backward()
    grads = [p.grad for p in model.parameters() if p.grad is not None]
    largest = torch.stack([g.abs().max() for g in grads]).max().item()
    optimizer.step()
    del grads, losses
    mark(f"step {step}")
model.eval()
with torch.no_grad():
    cls, box = model(torch.rand(1, 3, 64, 64, device="cuda"))
    scores, labels = cls[0].sigmoid().max(dim=1)
    top = scores.topk(20).indices
    kept = box[0][top].cpu()
mark("detected")
