import torch
from torch import nn
import torch.nn.functional as F


class ResBlock(nn.Module):
    def __init__(self, features, scale=0.1):
        super().__init__()
        self.scale = scale
        self.body = nn.Sequential(nn.Conv2d(features, features, 3, padding=1), nn.ReLU(True),
                                  nn.Conv2d(features, features, 3, padding=1))

    def forward(self, x):
        res = self.body(x).mul(self.scale)
        res += x
        return res


class EDSR(nn.Module):
    def __init__(self, features=16, blocks=3):
        super().__init__()
        self.register_buffer("mean", torch.tensor([0.45, 0.44, 0.40]).view(1, 3, 1, 1))
        self.head = nn.Conv2d(3, features, 3, padding=1)
        self.body = nn.Sequential(*[ResBlock(features) for _ in range(blocks)])
        self.tail = nn.Sequential(nn.Conv2d(features, 4 * features, 3, padding=1), nn.PixelShuffle(2),
                                  nn.Conv2d(features, 3, 3, padding=1))

    def forward(self, x):
        x = self.head(x - self.mean)
        res = self.body(x)
        res += x
        return self.tail(res) + self.mean


model = EDSR().cuda()
opt = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.999))
scheduler = torch.optim.lr_scheduler.StepLR(opt, step_size=1, gamma=0.5)
mark("model")
for step in range(2):
    hr = torch.rand(4, 3, 32, 32, device="cuda")
    lr = F.interpolate(hr, scale_factor=0.5, mode="bilinear", align_corners=False)
    sr = model(lr)
    loss = F.l1_loss(sr, hr)
    mark(f"forward {step}")
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(model.parameters(), 0.5)
    opt.step()
    scheduler.step()
    mark(f"step {step}")
model.eval()
with torch.no_grad():
    sr = model(lr).clamp(0, 1).mul(255).round()
    mse = ((sr - hr * 255) ** 2).mean()
    psnr = (20 * torch.log10(255.0 / torch.sqrt(mse))).item()
mark("eval")
