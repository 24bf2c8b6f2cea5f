import torch
import torch.nn as nn
torch.cuda.set_per_process_memory_fraction(0.002)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.seq = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 1024), nn.GELU(), nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 4000))
    def forward(self, x):
        h = x * 2
        return self.seq(h) + 1
def step(net, x):
    a = torch.randn(100, device="cuda")
    out = net(x)
    return out
net = Net().cuda()
mark("start")
n = 6000
x = torch.randn(n, 256, device="cuda")
try:
    z = step(net, x)
except torch.cuda.OutOfMemoryError as e:
    mark("caught")
mark("behind")
