import gc
import torch
from torch import nn
import torch.nn.functional as F

torch.cuda.set_per_process_memory_fraction(0.01)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(3, 64, 3, padding=1)
        self.n1 = nn.BatchNorm2d(64)
        self.c2 = nn.Conv2d(64, 64, 3, padding=1)
        self.n2 = nn.BatchNorm2d(64)
        self.fc = nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu(self.n1(self.c1(x)))
        x = F.relu(self.n2(self.c2(x)))
        return self.fc(x.mean(dim=(2, 3)))


model = Net().cuda()
optimizer = torch.optim.Adam(model.parameters())
size = 256
found = False
mark("model")
while not found:
    failed = False
    try:
        x = torch.randn(size, 3, 64, 64, device="cuda")
        y = torch.randint(0, 10, (size,), device="cuda")
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        found = True
    except torch.cuda.OutOfMemoryError:
        failed = True
    if failed:
        x, y, loss = None, None, None
        gc.collect()
        torch.cuda.empty_cache()
        size = size // 2
    mark(f"size {size}")
for step in range(2):
    x = torch.randn(size, 3, 64, 64, device="cuda")
    y = torch.randint(0, 10, (size,), device="cuda")
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mark(f"step {step}")
