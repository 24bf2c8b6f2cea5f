# alone
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)).cuda().eval()
pool = torch.cuda.graph_pool_handle()
mark("model")
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side), torch.no_grad():
    warm = model(torch.zeros(64, 128, device="cuda"))
torch.cuda.current_stream().wait_stream(side)
del warm
mark("warm")
x1 = torch.zeros(64, 128, device="cuda")
x2 = torch.zeros(16, 128, device="cuda")
g1 = torch.cuda.CUDAGraph()
with torch.no_grad(), torch.cuda.graph(g1, pool=pool):
    y1 = F.softmax(model(x1), dim=1)
mark("first")
g2 = torch.cuda.CUDAGraph()
with torch.no_grad(), torch.cuda.graph(g2, pool=pool):
    y2 = F.softmax(model(x2), dim=1)
mark("second")
for i in range(3):
    x1.copy_(torch.randn(64, 128, device="cuda"))
    g1.replay()
    x2.copy_(torch.randn(16, 128, device="cuda"))
    g2.replay()
    best = torch.cat([y1, y2]).argmax(dim=1)
    mark(f"replayed {i}")
del y1, g1
torch.cuda.empty_cache()
mark("first gone")
del y2, g2
torch.cuda.empty_cache()
mark("second gone")
