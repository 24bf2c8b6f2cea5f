import torch
from torch import nn
import torch.nn.functional as F


class DoubleConv(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.LeakyReLU(0.1, inplace=True), nn.Conv2d(o, o, 3, padding=1), nn.BatchNorm2d(o), nn.LeakyReLU(0.1, inplace=True))

    def forward(self, x):
        return self.net(x)


class AttentionGate(nn.Module):
    def __init__(self, g, x, inner):
        super().__init__()
        self.W_g = nn.Conv2d(g, inner, 1)
        self.W_x = nn.Conv2d(x, inner, 1)
        self.psi = nn.Sequential(nn.Conv2d(inner, 1, 1), nn.Sigmoid())

    def forward(self, g, x):
        return x * self.psi(F.relu(self.W_g(g) + self.W_x(x), inplace=True))


class NestedUNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        f = [12, 24, 48]
        self.pool = nn.MaxPool2d(2, 2)
        self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
        self.conv0_0 = DoubleConv(3, f[0])
        self.conv1_0 = DoubleConv(f[0], f[1])
        self.conv2_0 = DoubleConv(f[1], f[2])
        self.conv0_1 = DoubleConv(f[0] + f[1], f[0])
        self.conv1_1 = DoubleConv(f[1] + f[2], f[1])
        self.conv0_2 = DoubleConv(f[0] * 2 + f[1], f[0])
        self.gate = AttentionGate(f[1], f[0], 8)
        self.final1 = nn.Conv2d(f[0], classes, 1)
        self.final2 = nn.Conv2d(f[0], classes, 1)

    def forward(self, x):
        x0_0 = self.conv0_0(x)
        x1_0 = self.conv1_0(self.pool(x0_0))
        x0_1 = self.conv0_1(torch.cat([x0_0, self.up(x1_0)], 1))
        x2_0 = self.conv2_0(self.pool(x1_0))
        x1_1 = self.conv1_1(torch.cat([x1_0, self.up(x2_0)], 1))
        g = self.up(x1_1)
        x0_2 = self.conv0_2(torch.cat([self.gate(g, x0_0), x0_1, g], 1))
        return self.final1(x0_1), self.final2(x0_2)


class TverskyLoss(nn.Module):
    def __init__(self, alpha, beta, gamma):
        super().__init__()
        self.alpha, self.beta, self.gamma = alpha, beta, gamma

    def forward(self, logits, target):
        probs = logits.softmax(1)
        onehot = F.one_hot(target, logits.size(1)).permute(0, 3, 1, 2).float()
        dims = (0, 2, 3)
        tp = (probs * onehot).sum(dims)
        fp = (probs * (1 - onehot)).sum(dims)
        fn = ((1 - probs) * onehot).sum(dims)
        tversky = (tp + 1) / (tp + self.alpha * fp + self.beta * fn + 1)
        return ((1 - tversky) ** self.gamma).mean()


def lovasz_grad(sorted_truth):
    p = sorted_truth.size(0)
    gts = sorted_truth.sum()
    intersection = gts - sorted_truth.cumsum(0)
    union = gts + (1 - sorted_truth).cumsum(0)
    jaccard = 1.0 - intersection / union
    jaccard[1:p] = jaccard[1:p] - jaccard[0:-1]
    return jaccard


def lovasz(logits, target, classes):
    probs = logits.softmax(1).permute(0, 2, 3, 1).reshape(-1, classes)
    labels = target.view(-1)
    losses = []
    for c in range(classes):
        fg = (labels == c).float()
        errors = (fg - probs[:, c]).abs()
        errors_sorted, perm = torch.sort(errors, 0, descending=True)
        losses.append(torch.dot(errors_sorted, lovasz_grad(fg[perm])))
    return torch.stack(losses).mean()


def boundary(target):
    t = target.unsqueeze(1).float()
    dilated = F.max_pool2d(t, 3, stride=1, padding=1)
    eroded = -F.max_pool2d(-t, 3, stride=1, padding=1)
    return (dilated - eroded).clamp(0, 1).squeeze(1)


model = NestedUNet(4).to("cuda", memory_format=torch.channels_last)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
tversky = TverskyLoss(0.3, 0.7, 0.75)
mark("model")
for step in range(2):
    x = torch.randn(2, 3, 32, 32, device="cuda").to(memory_format=torch.channels_last)
    y = torch.randint(0, 4, (2, 32, 32), device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        aux, out = model(x)
    weights = 1 + 4 * boundary(y)
    ce = F.cross_entropy(out.float(), y, weight=torch.tensor([0.5, 1.0, 1.0, 2.0], device="cuda"), reduction="none")
    pt = torch.exp(-ce)
    focal = ((1 - pt) ** 2 * ce * weights).mean()
    loss = focal + tversky(out.float(), y) + 0.4 * F.cross_entropy(aux.float(), y) + 0.5 * lovasz(out.float(), y, 4)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mark(f"step {step}")
