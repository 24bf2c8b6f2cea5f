import torch
import torch.nn as nn
import torch.nn.functional as F

teacher = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(6)]).cuda().eval()
student = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(2)]).cuda()
optimizer = torch.optim.AdamW(student.parameters())
for step in range(30):
    x = torch.randn(256, 2048, device="cuda")
    with torch.no_grad():
        goal = teacher(x)
    optimizer.zero_grad()
    F.mse_loss(student(x), goal).backward()
    optimizer.step()
