import torch
import torch.nn as nn

layer = nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True).cuda()
optimizer = torch.optim.AdamW(layer.parameters())
for step in range(60):
    length = 64 + 8 * step
    x = torch.randn(8, length, 256, device="cuda")
    optimizer.zero_grad()
    layer(x).square().mean().backward()
    optimizer.step()
