import torch
from torch import nn
import torch.nn.functional as F


class CausalConv1d(nn.Module):
    def __init__(self, inputs, outputs, kernel, dilation=1):
        super().__init__()
        self.pad = (kernel - 1) * dilation
        self.conv = nn.Conv1d(inputs, outputs, kernel, dilation=dilation)

    def forward(self, x):
        return self.conv(F.pad(x, (self.pad, 0)))


class ResidualBlock(nn.Module):
    def __init__(self, channels, skip, dilation):
        super().__init__()
        self.filter = CausalConv1d(channels, channels, 2, dilation)
        self.gate = CausalConv1d(channels, channels, 2, dilation)
        self.res = nn.Conv1d(channels, channels, 1)
        self.skip = nn.Conv1d(channels, skip, 1)

    def forward(self, x):
        h = torch.tanh(self.filter(x)) * torch.sigmoid(self.gate(x))
        return self.res(h) + x, self.skip(h)


class WaveNet(nn.Module):
    def __init__(self, channels=16, skip=32, classes=64):
        super().__init__()
        self.embedding = nn.Embedding(classes, channels)
        self.front = CausalConv1d(channels, channels, 2)
        self.blocks = nn.ModuleList([ResidualBlock(channels, skip, 2 ** i) for i in range(4)])
        self.end1 = nn.Conv1d(skip, skip, 1)
        self.end2 = nn.Conv1d(skip, classes, 1)

    def forward(self, x):
        x = self.front(self.embedding(x).transpose(1, 2))
        skips = 0
        for block in self.blocks:
            x, s = block(x)
            skips = skips + s
        return self.end2(F.relu(self.end1(F.relu(skips))))


model = WaveNet().cuda()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=1)
mark("model")
for step in range(2):
    audio = torch.randint(0, 64, (4, 65), device="cuda")
    logits = model(audio[:, :-1])
    loss = F.cross_entropy(logits, audio[:, 1:])
    mark(f"forward {step}")
    opt.zero_grad()
    loss.backward()
    opt.step()
    scheduler.step(loss.item())
    mark(f"step {step}")
