import torch
import torch.nn as nn


def run(lr):
    model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1024)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for step in range(5):
        optimizer.zero_grad()
        loss = model(torch.randn(64, 1024, device="cuda")).square().mean()
        loss.backward()
        optimizer.step()
    return {"lr": lr, "loss": loss.item(), "model": model, "optimizer": optimizer}


results = []
for trial in range(40):
    results.append(run(10 ** -(trial / 10)))
