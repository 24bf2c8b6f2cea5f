import torch
from torch import nn
import torch.nn.functional as F

model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256)).to("cuda")
x = torch.randn(64, 256, device="cuda")
mark("model")

pool = torch.cuda.MemPool()
with torch.cuda.use_mem_pool(pool):
    y = model(x)
    cache = torch.zeros(8, 64, 1024, device="cuda")
    scratch = torch.empty(3 << 20, device="cuda")
    del scratch
    mark("in the pool")
large = torch.empty(3 << 20, device="cuda")
mark("outside")
del large
torch.cuda.empty_cache()
mark("emptied")
y.sum().backward()
mark("backward")
del y
with torch.cuda.use_mem_pool(pool):
    again = torch.empty(2 << 20, device="cuda")
    small = torch.ones(100, device="cuda")
mark("again")
del cache, again
torch.cuda.empty_cache()
mark("cached in the pool")
del pool
mark("pool gone")
del small
torch.cuda.empty_cache()
mark("nothing left")
