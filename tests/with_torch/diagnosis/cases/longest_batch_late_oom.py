import random

import torch
from torch import nn

random.seed(1)
encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(256, 8, 1024, batch_first=True), 4,
                                enable_nested_tensor=False).cuda()
optimizer = torch.optim.AdamW(encoder.parameters(), lr=1e-4)
lengths = [random.randint(20, 120) for _ in range(60)] + [2500]
for length in lengths:
    x = torch.randn(16, length, 256, device="cuda")
    loss = encoder(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
