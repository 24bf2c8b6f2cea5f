import torch
from torch import nn
import torch.nn.functional as F


class SqueezeExcite(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.fc1 = nn.Conv2d(channels, channels // 4, 1)
        self.fc2 = nn.Conv2d(channels // 4, channels, 1)

    def forward(self, x):
        s = x.mean((2, 3), keepdim=True)
        s = F.relu(self.fc1(s))
        s = F.hardsigmoid(self.fc2(s))
        return x * s


class InvertedResidual(nn.Module):
    def __init__(self, inputs, outputs, stride, expand):
        super().__init__()
        hidden = inputs * expand
        self.use_res = stride == 1 and inputs == outputs
        self.expand = nn.Sequential(nn.Conv2d(inputs, hidden, 1, bias=False), nn.BatchNorm2d(hidden), nn.ReLU6(inplace=True))
        self.depthwise = nn.Sequential(
            nn.Conv2d(hidden, hidden, 3, stride=stride, padding=1, groups=hidden, bias=False),
            nn.BatchNorm2d(hidden), nn.Hardswish())
        self.se = SqueezeExcite(hidden)
        self.project = nn.Sequential(nn.Conv2d(hidden, outputs, 1, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        h = self.project(self.se(self.depthwise(self.expand(x))))
        if self.use_res:
            return x + h
        return h


model = nn.Sequential(
    nn.Conv2d(3, 16, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU6(inplace=True),
    InvertedResidual(16, 16, 1, 2), InvertedResidual(16, 24, 2, 4), InvertedResidual(24, 24, 1, 4),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(24, 10)).cuda()
decay, no_decay = [], []
for name, p in model.named_parameters():
    if p.ndim == 1 or name.endswith("bias"):
        no_decay.append(p)
    else:
        decay.append(p)
opt = torch.optim.SGD([{"params": no_decay, "weight_decay": 0.0}, {"params": decay, "weight_decay": 4e-5}],
                      lr=0.05, momentum=0.9)
scaler = torch.cuda.amp.GradScaler()
mark("model")
for step in range(2):
    x = torch.randn(4, 3, 48, 48, device="cuda")
    y = torch.randint(0, 10, (4,), device="cuda")
    with torch.cuda.amp.autocast():
        loss = F.cross_entropy(model(x), y)
    mark(f"forward {step}")
    opt.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()
    mark(f"step {step}")
