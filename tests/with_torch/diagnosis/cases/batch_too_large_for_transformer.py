import torch
import torch.nn as nn
import torch.nn.functional as F

class Enc(nn.Module):
    def __init__(self, d=512, n=12):
        super().__init__()
        self.l = nn.ModuleList([nn.TransformerEncoderLayer(d, 8, 2048, batch_first=True) for _ in range(n)])

    def forward(self, x):
        for l in self.l:
            x = l(x)
        return x

net = Enc().cuda()
opt = torch.optim.AdamW(net.parameters())
for i in range(5):
    x = torch.randn(32, 512, 512, device="cuda")
    loss = net(x).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
