import torch
from torch import nn
import torch.nn.functional as F


class DoubleConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
            nn.Conv2d(outputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))

    def forward(self, x):
        return self.net(x)


class UNet(nn.Module):
    def __init__(self, channels=3, classes=2, width=16):
        super().__init__()
        self.inc = DoubleConv(channels, width)
        self.down1 = nn.Sequential(nn.MaxPool2d(2), DoubleConv(width, 2 * width))
        self.down2 = nn.Sequential(nn.MaxPool2d(2), DoubleConv(2 * width, 4 * width))
        self.up1 = nn.ConvTranspose2d(4 * width, 2 * width, 2, stride=2)
        self.conv1 = DoubleConv(4 * width, 2 * width)
        self.up2 = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
        self.conv2 = DoubleConv(3 * width, width)
        self.outc = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        x1 = self.inc(x)
        x2 = self.down1(x1)
        x3 = self.down2(x2)
        x = self.up1(x3)
        dy = x2.size(2) - x.size(2)
        dx = x2.size(3) - x.size(3)
        x = F.pad(x, (dx // 2, dx - dx // 2, dy // 2, dy - dy // 2))
        x = self.conv1(torch.cat([x2, x], dim=1))
        x = self.up2(x)
        x = F.pad(x, (0, x1.size(3) - x.size(3), 0, x1.size(2) - x.size(2)))
        x = self.conv2(torch.cat([x1, x], dim=1))
        return self.outc(x)


def dice_loss(logits, target, eps=1e-6):
    probs = F.softmax(logits, dim=1)
    onehot = F.one_hot(target, 2).permute(0, 3, 1, 2).float()
    inter = 2 * (probs * onehot).sum(dim=(2, 3))
    sets = probs.sum(dim=(2, 3)) + onehot.sum(dim=(2, 3))
    return 1 - ((inter + eps) / (sets + eps)).mean()


model = UNet().cuda()
opt = torch.optim.RMSprop(model.parameters(), lr=1e-3, weight_decay=1e-8, momentum=0.9, foreach=True)
scaler = torch.amp.GradScaler("cuda")
mark("model")
for step in range(2):
    images = torch.randn(2, 3, 70, 66, device="cuda")
    masks = torch.randint(0, 2, (2, 70, 66), device="cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        pred = model(images)
        loss = F.cross_entropy(pred, masks)
        loss += dice_loss(pred.float(), masks)
    mark(f"forward {step}")
    opt.zero_grad(set_to_none=True)
    scaler.scale(loss).backward()
    mark(f"backward {step}")
    scaler.unscale_(opt)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
    mark(f"step {step}")
model.eval()
with torch.no_grad():
    pred = model(images).argmax(dim=1)
    accuracy = (pred == masks).float().mean().item()
mark("eval")
