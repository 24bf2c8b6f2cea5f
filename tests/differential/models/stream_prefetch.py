import torch
from torch import nn
import torch.nn.functional as F

model = nn.Sequential(nn.Linear(256, 700), nn.ReLU(), nn.Linear(700, 50)).cuda()
optimizer = torch.optim.Adam(model.parameters())
copies = torch.cuda.Stream()
done = torch.cuda.Event()
mark("model")
hosts = [torch.randn(128, 256).pin_memory() for _ in range(4)]
labels = [torch.randint(0, 50, (128,)).pin_memory() for _ in range(4)]
with torch.cuda.stream(copies):
    x = hosts[0].to("cuda", non_blocking=True)
    y = labels[0].to("cuda", non_blocking=True)
for i in range(4):
    torch.cuda.current_stream().wait_stream(copies)
    now, label = x, y
    now.record_stream(torch.cuda.current_stream())
    label.record_stream(torch.cuda.current_stream())
    if i < 3:
        with torch.cuda.stream(copies):
            x = hosts[i + 1].to("cuda", non_blocking=True)
            y = labels[i + 1].to("cuda", non_blocking=True)
    loss = F.cross_entropy(model(now), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    done.record()
    mark(f"step {i}")
del now, label, x, y
torch.cuda.synchronize()
mark("gone")
a = torch.empty(1000, device="cuda")
mark("after")
