import math
import torch
from torch import nn
import torch.nn.functional as F

torch.backends.cudnn.enabled = True
anchors, classes = 3, 8


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.c2 = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), nn.ReLU(inplace=True))
        self.c3 = nn.Sequential(nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(inplace=True))
        self.c4 = nn.Sequential(nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.BatchNorm2d(64), nn.ReLU(inplace=True))

    def forward(self, x):
        c2 = self.c2(x)
        c3 = self.c3(c2)
        c4 = self.c4(c3)
        return c2, c3, c4


class FPN(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.lat2 = nn.Conv2d(16, dim, 1)
        self.lat3 = nn.Conv2d(32, dim, 1)
        self.lat4 = nn.Conv2d(64, dim, 1)
        self.out2 = nn.Conv2d(dim, dim, 3, padding=1)
        self.out3 = nn.Conv2d(dim, dim, 3, padding=1)
        self.out4 = nn.Conv2d(dim, dim, 3, padding=1)
        self.p6 = nn.Conv2d(dim, dim, 3, stride=2, padding=1)

    def forward(self, c2, c3, c4):
        p4 = self.lat4(c4)
        p3 = self.lat3(c3) + F.interpolate(p4, size=c3.shape[-2:], mode="nearest")
        p2 = self.lat2(c2) + F.interpolate(p3, size=c2.shape[-2:], mode="nearest")
        p2 = self.out2(p2)
        p3 = self.out3(p3)
        p4 = self.out4(p4)
        p5 = self.p6(F.relu(p4))
        return [p2, p3, p4, p5]


class Head(nn.Module):
    def __init__(self, dim, out):
        super().__init__()
        self.tower = nn.Sequential(nn.Conv2d(dim, dim, 3, padding=1), nn.GroupNorm(8, dim), nn.ReLU(), nn.Conv2d(dim, dim, 3, padding=1), nn.GroupNorm(8, dim), nn.ReLU())
        self.pred = nn.Conv2d(dim, anchors * out, 3, padding=1)
        self.out = out

    def forward(self, features):
        outs = []
        for f in features:
            y = self.pred(self.tower(f))
            n, _, h, w = y.shape
            y = y.view(n, -1, self.out, h, w)
            y = y.permute(0, 3, 4, 1, 2)
            y = y.reshape(n, -1, self.out)
            outs.append(y)
        return torch.cat(outs, dim=1)


class RetinaNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = Backbone()
        self.fpn = FPN()
        self.cls = Head(32, classes)
        self.box = Head(32, 4)

    def forward(self, x):
        c2, c3, c4 = self.backbone(x)
        features = self.fpn(c2, c3, c4)
        cls = self.cls(features)
        box = self.box(features)
        return cls, box


def focal_loss(logits, targets, alpha=0.25, gamma=2.0):
    p = torch.sigmoid(logits)
    ce = F.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    p_t = p * targets + (1 - p) * (1 - targets)
    loss = ce * ((1 - p_t) ** gamma)
    alpha_t = alpha * targets + (1 - alpha) * (1 - targets)
    return (alpha_t * loss).sum()


def giou_loss(pred, target):
    x1 = torch.max(pred[..., 0], target[..., 0])
    y1 = torch.max(pred[..., 1], target[..., 1])
    x2 = torch.min(pred[..., 2], target[..., 2])
    y2 = torch.min(pred[..., 3], target[..., 3])
    inter = (x2 - x1).clamp(min=0) * (y2 - y1).clamp(min=0)
    area_p = (pred[..., 2] - pred[..., 0]) * (pred[..., 3] - pred[..., 1])
    area_t = (target[..., 2] - target[..., 0]) * (target[..., 3] - target[..., 1])
    union = area_p + area_t - inter
    iou = inter / (union + 1e-7)
    lt = torch.min(pred[..., :2], target[..., :2])
    rb = torch.max(pred[..., 2:], target[..., 2:])
    wh = (rb - lt).clamp(min=0)
    area_c = wh[..., 0] * wh[..., 1]
    return 1 - iou + (area_c - union) / (area_c + 1e-7)


model = RetinaNet().cuda()
nn.init.constant_(model.cls.pred.bias, -math.log(99))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
mark("model")
for step in range(2):
    x = torch.randn(2, 3, 40, 40, device="cuda")
    cls, box = model(x)
    mark(f"forward {step}")
    total = cls.shape[1]
    labels = torch.randint(0, classes + 1, (2, total), device="cuda")
    gt = torch.rand(2, total, 4, device="cuda")
    onehot = F.one_hot(labels, classes + 1)[..., :classes].float()
    positive = (labels < classes).float()
    num = positive.sum().clamp(min=1.0)
    cls_loss = focal_loss(cls, onehot) / num
    reg = F.smooth_l1_loss(box, gt, reduction="none", beta=0.11).sum(-1)
    reg_loss = (reg * positive).sum() / num
    iou = (giou_loss(box.float(), gt) * positive).sum() / num
    loss = cls_loss + reg_loss + iou
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=10.0, norm_type=2)
    optimizer.step()
    mark(f"step {step}")
model.eval()
with torch.no_grad():
    cls, box = model(x)
    scores = cls.sigmoid().flatten(1)
    top, idx = scores.topk(20, dim=1)
    which = idx // classes
    label = idx % classes
    boxes = torch.gather(box, 1, which.unsqueeze(-1).expand(-1, -1, 4))
    boxes = boxes.clamp_(0, 40)
mark("detected")
