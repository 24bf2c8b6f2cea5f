import copy

import torch
from torch import nn


class EMA:
    def __init__(self, model, decay=0.999):
        self.module = copy.deepcopy(model).eval().requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for e, p in zip(self.module.parameters(), model.parameters()):
            e.lerp_(p, 1 - self.decay)


model = nn.Sequential(*[nn.Sequential(nn.Linear(768, 768), nn.SiLU()) for _ in range(10)]).cuda()
ema = EMA(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(30):
    x = torch.randn(512, 768, device="cuda")
    loss = (model(x) - x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ema.update(model)
    if step % 10 == 9:
        with torch.inference_mode():
            print(ema.module(torch.randn(512, 768, device="cuda")).mean().item())
