import torch
from torch import nn
import torch.nn.functional as F

torch.backends.cudnn.enabled = True


class DropPath(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training or self.p == 0.0:
            return x
        keep = 1 - self.p
        mask = torch.rand(x.shape[0], 1, 1, 1, device=x.device).lt(keep).to(x.dtype)
        return x.div(keep) * mask


class MBConv(nn.Module):
    def __init__(self, cin, cout, expand, stride, p):
        super().__init__()
        mid = cin * expand
        self.body = nn.Sequential(
            nn.Conv2d(cin, mid, 1, bias=False), nn.BatchNorm2d(mid), nn.Hardswish(inplace=True),
            nn.Conv2d(mid, mid, 3, stride=stride, padding=1, groups=mid, bias=False), nn.BatchNorm2d(mid), nn.Hardswish(inplace=True),
            nn.Conv2d(mid, cout, 1, bias=False), nn.BatchNorm2d(cout))
        self.path = DropPath(p)
        self.residual = stride == 1 and cin == cout

    def forward(self, x):
        y = self.body(x)
        if self.residual:
            y = self.path(y) + x
        return y


model = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), MBConv(16, 16, 2, 1, 0.1), MBConv(16, 24, 3, 2, 0.0), MBConv(24, 24, 3, 1, 0.2),
                      nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(24, 10)).cuda().to(memory_format=torch.channels_last)
decay = [p for p in model.parameters() if p.ndim > 1]
others = [p for p in model.parameters() if p.ndim <= 1]
optimizer = torch.optim.RMSprop([{"params": decay, "weight_decay": 1e-5}, {"params": others}], lr=0.01, alpha=0.9, eps=1e-3, momentum=0.9)
warmup = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=2)
cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
scheduler = torch.optim.lr_scheduler.SequentialLR(optimizer, [warmup, cosine], milestones=[2])
mark("model")
for step in range(3):
    x = torch.rand(11, 3, 37, 37, device="cuda").contiguous(memory_format=torch.channels_last)
    y = torch.randint(0, 10, (11,), device="cuda")
    perm = torch.randperm(11, device="cuda")
    top, left, size = 4 + step, 7, 12
    x[:, :, top:top + size, left:left + size] = x[perm, :, top:top + size, left:left + size]
    lam = 1 - size * size / (37 * 37)
    target = F.one_hot(y, 10).float()
    target = lam * target + (1 - lam) * target[perm]
    with torch.autocast("cuda", dtype=torch.bfloat16):
        out = model(x)
        loss = -(target * F.log_softmax(out, dim=1)).sum(dim=1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    mark(f"step {step}")
model.eval()
with torch.no_grad():
    crops = torch.rand(3, 5, 3, 32, 32, device="cuda")
    probs = model(crops.flatten(0, 1)).softmax(-1).view(3, 5, 10).mean(1)
    top5 = probs.topk(5)[1].eq(torch.zeros(3, 1, dtype=torch.long, device="cuda")).any(dim=1).float().mean()
mark("eval")
