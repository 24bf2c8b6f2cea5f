import gc
import torch
from torch import nn
import torch.nn.functional as F

torch.cuda.set_per_process_memory_fraction(0.004)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(300, 3000)
        self.hidden = nn.Linear(3000, 3000)
        self.out = nn.Linear(3000, 10)

    def forward(self, x):
        return self.out(torch.tanh(self.hidden(F.relu(self.inp(x)))))


def predict(model, x, size):
    outputs = []
    with torch.no_grad():
        for start in range(0, x.size(0), size):
            outputs.append(model(x[start:start + size]))
    return torch.cat(outputs)


model = Net().cuda()
x = torch.randn(9000, 300, device="cuda")
y = torch.randint(0, 10, (9000,), device="cuda")
mark("model")
size = 9000
result = None
tries = 0
while result is None and size > 0:
    failed = False
    try:
        result = predict(model, x, size)
    except torch.cuda.OutOfMemoryError:
        failed = True
    tries += 1
    if failed:
        size = size // 2
        gc.collect()
        torch.cuda.empty_cache()
    mark(f"try {tries}")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
splits = 1
done = False
while not done:
    failed = False
    try:
        optimizer.zero_grad()
        for part, target in zip(x.chunk(splits), y.chunk(splits)):
            loss = F.cross_entropy(model(part), target) / splits
            loss.backward()
        optimizer.step()
        done = True
    except torch.cuda.OutOfMemoryError:
        failed = True
    if failed:
        part, target, loss = None, None, None
        optimizer.zero_grad(set_to_none=True)
        torch.cuda.empty_cache()
        splits = splits * 2
    mark(f"splits {splits}")
