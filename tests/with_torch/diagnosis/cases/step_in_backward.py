import torch
import torch.nn as nn

model = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(14)]).cuda()
optimizers = {parameter: torch.optim.AdamW([parameter]) for parameter in model.parameters()}


def step(parameter):
    optimizers[parameter].step()
    optimizers[parameter].zero_grad()


for parameter in model.parameters():
    parameter.register_post_accumulate_grad_hook(step)
for _ in range(10):
    model(torch.randn(64, 2048, device="cuda")).square().mean().backward()
