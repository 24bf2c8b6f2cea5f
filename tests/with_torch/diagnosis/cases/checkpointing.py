import torch
import torch.nn as nn
import torch.nn.functional as F

from torch.utils.checkpoint import checkpoint
blocks = nn.ModuleList([nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)) for _ in range(12)]).cuda()
opt = torch.optim.AdamW(blocks.parameters())
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.b = blocks
    def forward(self, x):
        for b in self.b:
            x = checkpoint(b, x, use_reentrant=False)
        return x
net = Net()
scaler = torch.amp.GradScaler("cuda")
for i in range(8):
    x = torch.randn(2048, 512, device="cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        loss = net(x).float().pow(2).mean()
    opt.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()
