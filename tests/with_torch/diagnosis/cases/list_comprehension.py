import torch
import torch.nn as nn
import torch.nn.functional as F

model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 512)).cuda().eval()
chunks = [torch.randn(1024, 256) for _ in range(400)]
outs = [model(c.cuda()) for c in chunks]
print(len(outs))
