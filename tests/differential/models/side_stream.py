import torch
from torch import nn
import torch.nn.functional as F

model = nn.Sequential(nn.Linear(257, 515), nn.ReLU(), nn.Linear(515, 515), nn.ReLU(), nn.Linear(515, 17)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
copy_stream = torch.cuda.Stream()
stats_stream = torch.cuda.Stream()
ready = torch.cuda.Event()
totals = torch.zeros(17, device="cuda")
mark("model")
host = [torch.randn(70, 257).pin_memory() for i in range(4)]
labels = [torch.randint(0, 17, (70,)).pin_memory() for i in range(4)]
with torch.cuda.stream(copy_stream):
    x_next = host[0].to("cuda", non_blocking=True)
    y_next = labels[0].to("cuda", non_blocking=True)
for step in range(4):
    torch.cuda.current_stream().wait_stream(copy_stream)
    x, y = x_next, y_next
    x.record_stream(torch.cuda.current_stream())
    y.record_stream(torch.cuda.current_stream())
    if step + 1 < 4:
        with torch.cuda.stream(copy_stream):
            x_next = host[step + 1].to("cuda", non_blocking=True)
            y_next = labels[step + 1].to("cuda", non_blocking=True)
    out = model(x)
    loss = F.cross_entropy(out, y)
    optimizer.zero_grad()
    loss.backward()
    ready.record()
    optimizer.step()
    with torch.cuda.stream(stats_stream):
        stats_stream.wait_event(ready)
        scores = out.detach().softmax(dim=1)
        scores.record_stream(stats_stream)
        totals.add_(scores.sum(dim=0))
    del scores
    mark(f"step {step}")
torch.cuda.current_stream().wait_stream(stats_stream)
mean = (totals / (4 * 70)).cpu()
torch.cuda.synchronize()
mark("synchronized")
grads = [p.grad.to("cpu", non_blocking=True) for p in model.parameters()]
torch.cuda.synchronize()
x_next = None
y_next = None
torch.cuda.empty_cache()
mark("end")
