import torch
from torch import nn
import torch.nn.functional as F


class Conv2Plus1d(nn.Module):
    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        middle = (inputs * outputs * 27) // (inputs * 9 + 3 * outputs)
        self.spatial = nn.Conv3d(inputs, middle, (1, 3, 3), stride=(1, stride, stride), padding=(0, 1, 1), bias=False)
        self.norm = nn.BatchNorm3d(middle)
        self.temporal = nn.Conv3d(middle, outputs, (3, 1, 1), stride=(stride, 1, 1), padding=(1, 0, 0), bias=False)

    def forward(self, x):
        return self.temporal(F.relu(self.norm(self.spatial(x))))


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.conv1 = Conv2Plus1d(inputs, outputs, stride)
        self.bn1 = nn.BatchNorm3d(outputs)
        self.conv2 = Conv2Plus1d(outputs, outputs)
        self.bn2 = nn.BatchNorm3d(outputs)
        self.depthwise = nn.Conv3d(outputs, outputs, 3, padding=1, groups=outputs)
        self.shortcut = nn.Sequential(nn.Conv3d(inputs, outputs, 1, stride=stride, bias=False), nn.BatchNorm3d(outputs))

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out = out + self.depthwise(out)
        return F.relu(out + self.shortcut(x))


class VideoNet(nn.Module):
    def __init__(self, classes=5):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv3d(3, 8, (3, 7, 7), stride=(1, 2, 2), padding=(1, 3, 3), bias=False), nn.BatchNorm3d(8), nn.ReLU(),
            nn.MaxPool3d((1, 3, 3), stride=(1, 2, 2), padding=(0, 1, 1)))
        self.layer1 = Block(8, 8)
        self.layer2 = Block(8, 16, stride=2)
        self.pool = nn.AdaptiveAvgPool3d((1, 1, 1))
        self.head = nn.Linear(16, classes)

    def forward(self, x):
        x = self.layer2(self.layer1(self.stem(x)))
        return self.head(self.pool(x).flatten(1))


net = VideoNet().cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
mark("model")
for step in range(2):
    clips = torch.randn(2, 3, 8, 32, 40, device="cuda")
    labels = torch.randint(0, 5, (2,), device="cuda")
    loss = F.cross_entropy(net(clips), labels, label_smoothing=0.1)
    mark(f"forward {step}")
    opt.zero_grad()
    loss.backward()
    mark(f"backward {step}")
    opt.step()
    mark(f"step {step}")
