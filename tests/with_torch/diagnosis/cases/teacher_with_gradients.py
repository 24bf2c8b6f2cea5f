import torch
import torch.nn as nn
import torch.nn.functional as F

teacher = nn.Sequential(*[nn.Sequential(nn.Linear(1024, 1024), nn.GELU()) for _ in range(12)]).cuda().eval()
student = nn.Sequential(nn.Linear(1024, 256), nn.GELU(), nn.Linear(256, 1024)).cuda()
opt = torch.optim.Adam(student.parameters())

def distill(x):
    target = teacher(x)
    return F.mse_loss(student(x), target.detach())

for i in range(8):
    x = torch.randn(16384, 1024, device="cuda")
    loss = distill(x)
    opt.zero_grad()
    loss.backward()
    opt.step()
