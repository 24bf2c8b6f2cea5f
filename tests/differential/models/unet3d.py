import torch
from torch import nn
import torch.nn.functional as F


class DoubleConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv3d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm3d(outputs), nn.ReLU(inplace=True),
            nn.Conv3d(outputs, outputs, 3, padding=1, bias=False), nn.InstanceNorm3d(outputs, affine=True),
            nn.LeakyReLU(0.01, inplace=True))

    def forward(self, x):
        return self.net(x)


class UNet3d(nn.Module):
    def __init__(self, channels=1, classes=3, width=8):
        super().__init__()
        self.inc = DoubleConv(channels, width)
        self.down1 = nn.Sequential(nn.MaxPool3d(2), DoubleConv(width, 2 * width))
        self.down2 = nn.Sequential(nn.AvgPool3d(2), DoubleConv(2 * width, 4 * width), nn.Dropout3d(0.2))
        self.up1 = nn.ConvTranspose3d(4 * width, 2 * width, 2, stride=2)
        self.conv1 = DoubleConv(4 * width, 2 * width)
        self.up2 = nn.ConvTranspose3d(2 * width, width, 2, stride=2, bias=False)
        self.conv2 = DoubleConv(2 * width, width)
        self.outc = nn.Conv3d(width, classes, 1)

    def forward(self, x):
        x1 = self.inc(x)
        x2 = self.down1(x1)
        x3 = self.down2(x2)
        x = self.up1(x3)
        x = self.conv1(torch.cat([x2, x], dim=1))
        x = self.up2(x)
        x = self.conv2(torch.cat([x1, x], dim=1))
        return self.outc(x)


def dice_loss(logits, target, eps=1e-6):
    probs = F.softmax(logits, dim=1)
    onehot = F.one_hot(target, 3).permute(0, 4, 1, 2, 3).float()
    inter = 2 * (probs * onehot).sum(dim=(2, 3, 4))
    sets = probs.sum(dim=(2, 3, 4)) + onehot.sum(dim=(2, 3, 4))
    return 1 - ((inter + eps) / (sets + eps)).mean()


model = UNet3d().cuda()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
mark("model")
for step in range(2):
    scans = torch.randn(2, 1, 16, 24, 20, device="cuda")
    masks = torch.randint(0, 3, (2, 16, 24, 20), device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        pred = model(scans)
        loss = F.cross_entropy(pred, masks)
    loss = loss + dice_loss(pred.float(), masks)
    mark(f"forward {step}")
    opt.zero_grad(set_to_none=True)
    loss.backward()
    mark(f"backward {step}")
    opt.step()
    mark(f"step {step}")
model.eval()
with torch.no_grad():
    pred = model(scans).argmax(dim=1)
mark("eval")
