import contextlib

import torch
from torch import nn

model = nn.Sequential(*[nn.Sequential(nn.Linear(512, 512), nn.GELU(), nn.Dropout(0.1)) for _ in range(6)]).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
scaler = torch.amp.GradScaler("cuda", enabled=False)
ACCUMULATE = 4
running = torch.zeros((), device="cuda")
for i in range(48):
    x = torch.randn(512, 512, device="cuda")
    with torch.autocast("cuda", torch.bfloat16):
        loss = nn.functional.mse_loss(model(x), x) / ACCUMULATE
    scaler.scale(loss).backward()
    running += loss.detach()
    if (i + 1) % ACCUMULATE == 0:
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
        running.zero_()
