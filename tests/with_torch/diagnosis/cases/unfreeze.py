import torch
import torch.nn as nn

backbone = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(20)]).cuda()
head = nn.Linear(2048, 10).cuda()
backbone.requires_grad_(False)
for epoch in range(6):
    if epoch == 3:
        backbone.requires_grad_(True)
    parameters = [p for p in (*backbone.parameters(), *head.parameters()) if p.requires_grad]
    optimizer = torch.optim.AdamW(parameters)
    for step in range(5):
        optimizer.zero_grad()
        head(backbone(torch.randn(64, 2048, device="cuda"))).square().mean().backward()
        optimizer.step()
