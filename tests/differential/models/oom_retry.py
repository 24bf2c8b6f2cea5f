import torch
import torch.nn as nn
import torch.nn.functional as F
torch.cuda.set_per_process_memory_fraction(0.002)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(256, 1024)
        self.b = nn.Linear(1024, 1024)
        self.c = nn.Linear(1024, 10)
    def forward(self, x):
        h = F.relu(self.a(x))
        r = h
        for i in range(3):
            k = self.b(h)
            h = F.gelu(k) + r
        outs = [h, h * 2, h + 1]
        return self.c(outs[0] + outs[1] + outs[2])
def step(net, opt, x, y):
    opt.zero_grad()
    out = net(x)
    loss = F.cross_entropy(out, y)
    loss.backward()
    opt.step()
    return loss.item()
net = Net().cuda()
opt = torch.optim.Adam(net.parameters())
mark("start")
n = 8192
done = False
while not done:
    x = torch.randn(n, 256, device="cuda")
    y = torch.randint(0, 10, (n,), device="cuda")
    try:
        step(net, opt, x, y)
        done = True
    except torch.cuda.OutOfMemoryError as e:
        mark("caught")
        opt.zero_grad()
        del x
        del y
        torch.cuda.empty_cache()
        n //= 2
        mark("in except")
    mark("behind")
mark("end")
