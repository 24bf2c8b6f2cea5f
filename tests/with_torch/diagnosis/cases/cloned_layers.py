import torch
import torch.nn as nn
import torch.nn.functional as F

layer = nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True, device="cuda")
net = nn.TransformerEncoder(layer, 2)
opt = torch.optim.AdamW(net.parameters())
for i in range(6):
    x = torch.randn(16, 64, 512, device="cuda")
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
