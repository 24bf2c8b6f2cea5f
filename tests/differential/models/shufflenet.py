import torch
from torch import nn
import torch.nn.functional as F


def shuffle(x, groups):
    b, c, h, w = x.size()
    x = x.view(b, groups, c // groups, h, w)
    x = torch.transpose(x, 1, 2).contiguous()
    return x.view(b, -1, h, w)


class Unit(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.stride = stride
        half = outputs // 2
        if stride > 1:
            self.left = nn.Sequential(nn.Conv2d(inputs, inputs, 3, stride, 1, groups=inputs, bias=False), nn.BatchNorm2d(inputs), nn.Conv2d(inputs, half, 1, bias=False), nn.BatchNorm2d(half), nn.ReLU(inplace=True))
        else:
            self.left = nn.Sequential()
        begin = inputs if stride > 1 else half
        self.right = nn.Sequential(nn.Conv2d(begin, half, 1, bias=False), nn.BatchNorm2d(half), nn.ReLU(inplace=True), nn.Conv2d(half, half, 3, stride, 1, groups=half, bias=False), nn.BatchNorm2d(half), nn.Conv2d(half, half, 1, bias=False), nn.BatchNorm2d(half), nn.ReLU(inplace=True))

    def forward(self, x):
        if self.stride == 1:
            x1, x2 = x.chunk(2, dim=1)
            out = torch.cat((x1, self.right(x2)), dim=1)
        else:
            out = torch.cat((self.left(x), self.right(x)), dim=1)
        return shuffle(out, 2)


class Fire(nn.Module):
    def __init__(self, inputs, squeeze, expand):
        super().__init__()
        self.squeeze = nn.Conv2d(inputs, squeeze, 1)
        self.e1 = nn.Conv2d(squeeze, expand, 1)
        self.e3 = nn.Conv2d(squeeze, expand, 3, padding=1)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        x = self.act(self.squeeze(x))
        return torch.cat([self.act(self.e1(x)), self.act(self.e3(x))], 1)


class Ghost(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.primary = nn.Sequential(nn.Conv2d(inputs, outputs // 2, 1, bias=False), nn.BatchNorm2d(outputs // 2), nn.ReLU(inplace=True))
        self.cheap = nn.Sequential(nn.Conv2d(outputs // 2, outputs // 2, 3, padding=1, groups=outputs // 2, bias=False), nn.BatchNorm2d(outputs // 2), nn.ReLU(inplace=True))
        self.outputs = outputs

    def forward(self, x):
        a = self.primary(x)
        return torch.cat([a, self.cheap(a)], dim=1)[:, : self.outputs]


model = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.MaxPool2d(3, 2, 1), Unit(16, 32, 2), Unit(32, 32, 1), Fire(32, 8, 16), Ghost(32, 48), nn.Conv2d(48, 10, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten()).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
scaler = torch.amp.GradScaler()
mark("model")
accumulate = 2
for step in range(4):
    x = torch.randn(8, 3, 64, 64, device="cuda")
    y = torch.randint(10, (8,), device="cuda")
    with torch.autocast(device_type="cuda", dtype=torch.bfloat16):
        loss = F.cross_entropy(model(x), y) / accumulate
    scaler.scale(loss).backward()
    if (step + 1) % accumulate == 0:
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
        scheduler.step()
    mark(f"step {step}")
