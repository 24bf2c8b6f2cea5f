import copy
import torch
from torch import nn
import torch.nn.functional as F

torch.backends.cudnn.enabled = True


class SqueezeExcite(nn.Module):
    def __init__(self, channels, reduced):
        super().__init__()
        self.reduce = nn.Conv2d(channels, reduced, 1)
        self.expand = nn.Conv2d(reduced, channels, 1)

    def forward(self, x):
        s = F.adaptive_avg_pool2d(x, 1)
        s = self.expand(F.silu(self.reduce(s)))
        return torch.sigmoid(s) * x


class MBConv(nn.Module):
    def __init__(self, cin, cout, expand, k, stride):
        super().__init__()
        mid = cin * expand
        self.use_residual = cin == cout and stride == 1
        self.expand = nn.Sequential(nn.Conv2d(cin, mid, 1, bias=False), nn.BatchNorm2d(mid, eps=1e-3, momentum=0.01), nn.SiLU(inplace=True))
        self.depthwise = nn.Sequential(nn.Conv2d(mid, mid, k, stride=stride, padding=k // 2, groups=mid, bias=False), nn.BatchNorm2d(mid, eps=1e-3, momentum=0.01), nn.SiLU(inplace=True))
        self.se = SqueezeExcite(mid, max(1, cin // 4))
        self.project = nn.Sequential(nn.Conv2d(mid, cout, 1, bias=False), nn.BatchNorm2d(cout, eps=1e-3, momentum=0.01))

    def forward(self, x):
        h = self.project(self.se(self.depthwise(self.expand(x))))
        if self.use_residual:
            if self.training:
                keep = torch.rand(x.size(0), 1, 1, 1, device=x.device).add_(0.8).floor_()
                h = h / 0.8 * keep
            h = h + x
        return h


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(16), nn.SiLU(inplace=True))
        self.blocks = nn.Sequential(MBConv(16, 16, 2, 3, 1), MBConv(16, 24, 4, 5, 2), MBConv(24, 24, 4, 3, 1))
        self.head = nn.Sequential(nn.Conv2d(24, 64, 1, bias=False), nn.BatchNorm2d(64), nn.SiLU(inplace=True), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(64, 7))

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)))


model = Net().cuda()
for p in model.stem.parameters():
    p.requires_grad_(False)
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3, momentum=0.9, weight_decay=1e-5)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.97)
best = copy.deepcopy(model.state_dict())
mark("model")
for epoch in range(3):
    model.train()
    for i in range(2):
        x = torch.randn(6, 3, 32, 32, device="cuda")
        y = torch.randint(0, 7, (6,), device="cuda")
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    scheduler.step()
    mark(f"trained {epoch}")
    model.eval()
    total = 0.0
    with torch.no_grad():
        for i in range(2):
            x = torch.randn(6, 3, 32, 32, device="cuda")
            y = torch.randint(0, 7, (6,), device="cuda")
            total += F.cross_entropy(model(x), y, reduction="sum").item()
    mark(f"evaluated {epoch}")
    if epoch < 2:
        best = copy.deepcopy(model.state_dict())
        mark(f"best {epoch}")
model.load_state_dict(best)
mark("restored")
for p in model.stem.parameters():
    p.requires_grad_(True)
out = model(x)
loss = F.cross_entropy(out, y)
optimizer.zero_grad()
loss.backward()
optimizer.step()
mark("unfrozen")
