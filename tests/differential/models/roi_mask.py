import torch
from torch import nn
import torch.nn.functional as F


def roi_align(feature, boxes, size):
    n = boxes.size(0)
    _, c, h, w = feature.shape
    steps = (torch.arange(size, device=feature.device).float() + 0.5) / size
    x = boxes[:, 0:1] + (boxes[:, 2:3] - boxes[:, 0:1]) * steps
    y = boxes[:, 1:2] + (boxes[:, 3:4] - boxes[:, 1:2]) * steps
    gx = (x / w * 2 - 1)[:, None, :].expand(n, size, size)
    gy = (y / h * 2 - 1)[:, :, None].expand(n, size, size)
    grid = torch.stack([gx, gy], dim=-1)
    return F.grid_sample(feature.expand(n, -1, -1, -1), grid, align_corners=False)


class MaskRCNN(nn.Module):
    def __init__(self, c=16, classes=5):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, c, 3, stride=2, padding=1), nn.BatchNorm2d(c), nn.ReLU(inplace=True), nn.Conv2d(c, c, 3, stride=2, padding=1), nn.ReLU(inplace=True))
        self.box = nn.Sequential(nn.Flatten(), nn.Linear(c * 16, 32), nn.ReLU(), nn.Linear(32, classes + 4 * classes))
        self.mask = nn.Sequential(nn.Conv2d(c, c, 3, padding=1), nn.ReLU(inplace=True), nn.ConvTranspose2d(c, c, 2, stride=2), nn.ReLU(inplace=True), nn.Conv2d(c, classes, 1))
        self.classes = classes

    def forward(self, image, boxes):
        f = self.backbone(image)
        out = self.box(roi_align(f, boxes, 4))
        logits, deltas = out.split([self.classes, 4 * self.classes], dim=1)
        masks = self.mask(roi_align(f, boxes, 7))
        return logits, deltas.view(-1, self.classes, 4), masks


def dice_loss(logits, target):
    p = torch.sigmoid(logits).flatten(1)
    t = target.flatten(1)
    return (1 - (2 * (p * t).sum(-1) + 1) / (p.sum(-1) + t.sum(-1) + 1)).mean()


model = MaskRCNN().cuda()
for m in model.modules():
    if isinstance(m, nn.Conv2d):
        nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
        nn.init.constant_(m.bias, 0)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)
mark("model")
for step in range(2):
    image = torch.rand(1, 3, 48, 48, device="cuda")
    corner = torch.rand(9, 2, device="cuda") * 6
    boxes = torch.cat([corner, corner + 3 + torch.rand(9, 2, device="cuda") * 3], dim=1)
    label = torch.randint(0, 5, (9,), device="cuda")
    target = torch.randn(9, 4, device="cuda")
    gt = (torch.rand(9, 14, 14, device="cuda") > 0.5).float()
    logits, deltas, masks = model(image, boxes)
    rows = torch.arange(9, device="cuda")
    chosen = masks[rows, label]
    ce = F.cross_entropy(logits, label)
    reg = F.smooth_l1_loss(deltas[rows, label], target, beta=1.0 / 9, reduction="sum") / label.numel()
    ml = F.binary_cross_entropy_with_logits(chosen, gt) + dice_loss(chosen, gt)
    losses = {"ce": ce, "reg": reg, "mask": ml}
    loss = sum(losses.values())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mark(f"step {step}")
