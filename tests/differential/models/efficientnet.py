import torch
from torch import nn
import torch.nn.functional as F


def drop_connect(x, p, training):
    if not training:
        return x
    keep = 1 - p
    noise = keep + torch.rand([x.shape[0], 1, 1, 1], dtype=x.dtype, device=x.device)
    return x / keep * torch.floor(noise)


class SwishFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, i):
        result = i * torch.sigmoid(i)
        ctx.save_for_backward(i)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        i = ctx.saved_tensors[0]
        s = torch.sigmoid(i)
        return grad_output * (s * (1 + i * (1 - s)))


class MBConv(nn.Module):
    def __init__(self, inputs, outputs, stride, expand, kernel):
        super().__init__()
        mid = inputs * expand
        self.expand = nn.Conv2d(inputs, mid, 1, bias=False) if expand > 1 else None
        self.bn0 = nn.BatchNorm2d(mid, momentum=0.01, eps=1e-3)
        self.depth = nn.Conv2d(mid, mid, kernel, stride, kernel // 2, groups=mid, bias=False)
        self.bn1 = nn.BatchNorm2d(mid, momentum=0.01, eps=1e-3)
        self.reduce = nn.Conv2d(mid, max(1, inputs // 4), 1)
        self.restore = nn.Conv2d(max(1, inputs // 4), mid, 1)
        self.project = nn.Conv2d(mid, outputs, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs, momentum=0.01, eps=1e-3)
        self.same = stride == 1 and inputs == outputs

    def forward(self, inputs):
        x = inputs
        if self.expand is not None:
            x = SwishFunction.apply(self.bn0(self.expand(x)))
        x = SwishFunction.apply(self.bn1(self.depth(x)))
        s = F.adaptive_avg_pool2d(x, 1)
        s = self.restore(SwishFunction.apply(self.reduce(s)))
        x = torch.sigmoid(s) * x
        x = self.bn2(self.project(x))
        if self.same:
            x = drop_connect(x, 0.2, self.training) + inputs
        return x


class EfficientNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, 2, 1, bias=False)
        self.bn = nn.BatchNorm2d(16)
        self.blocks = nn.ModuleList([MBConv(16, 16, 1, 1, 3), MBConv(16, 24, 2, 4, 3), MBConv(24, 24, 1, 4, 5), MBConv(24, 40, 2, 4, 5)])
        self.head = nn.Conv2d(40, 80, 1, bias=False)
        self.fc = nn.Linear(80, 10)

    def forward(self, x):
        x = F.silu(self.bn(self.stem(x)))
        for b in self.blocks:
            x = b(x)
        x = F.silu(self.head(x)).mean([2, 3])
        return self.fc(F.dropout(x, 0.2, self.training))


model = EfficientNet().cuda().to(memory_format=torch.channels_last)
ema = [p.clone().detach() for p in model.parameters()]
optimizer = torch.optim.RMSprop(model.parameters(), lr=0.01, alpha=0.9, momentum=0.9, eps=0.001, weight_decay=1e-5)
mark("model")
for step in range(2):
    x = torch.randn(8, 3, 48, 48, device="cuda").contiguous(memory_format=torch.channels_last)
    y = torch.randint(0, 10, (8,), device="cuda")
    lam = 0.3
    order = torch.randperm(8, device="cuda")
    mixed = lam * x + (1 - lam) * x[order]
    out = model(mixed)
    loss = lam * F.cross_entropy(out, y, label_smoothing=0.1) + (1 - lam) * F.cross_entropy(out, y[order], label_smoothing=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for e, p in zip(ema, model.parameters()):
            e.mul_(0.99).add_(p, alpha=0.01)
    mark(f"step {step}")
