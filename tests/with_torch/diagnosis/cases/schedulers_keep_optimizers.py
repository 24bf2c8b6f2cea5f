import torch
import torch.nn as nn

model = nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(4)]).cuda()
history = []
for epoch in range(60):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    for step in range(4):
        optimizer.zero_grad()
        model(torch.randn(64, 1024, device="cuda")).mean().backward()
        optimizer.step()
    scheduler.step()
    history.append(scheduler)
