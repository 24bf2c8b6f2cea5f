import torch
from torch import nn
import torch.nn.functional as F

seen = []


def report(label):
    stats = torch.cuda.memory_stats()
    allocated = torch.cuda.memory_allocated()
    seen.append((stats["allocated_bytes.all.peak"], stats["num_alloc_retries"], allocated))
    text = torch.cuda.memory_summary(abbreviated=True)
    free, total = torch.cuda.mem_get_info()
    mark(label)


model = nn.Sequential(nn.Linear(333, 1111), nn.GELU(), nn.Linear(1111, 777), nn.LayerNorm(777), nn.Linear(777, 3)).cuda()
optimizer = torch.optim.Adam(model.parameters())
report("model")
for step in range(2):
    torch.cuda.reset_peak_memory_stats()
    x = torch.randn(301, 333, device="cuda")
    out = model(x)
    report(f"forward {step}")
    loss = out.square().mean()
    loss.backward()
    report(f"backward {step}")
    optimizer.step()
    optimizer.zero_grad(set_to_none=step == 0)
    report(f"step {step}")
del out, loss
torch.cuda.empty_cache()
report("emptied")
reserved = torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
big = torch.empty(5, 1000, 1000, device="cuda")
small = [torch.empty(100 * i + 1, device="cuda") for i in range(7)]
report("filled")
big = None
small[2:5] = []
torch.cuda.empty_cache()
report("holes")
x = x[:100]
torch.cuda.empty_cache()
report("slice keeps all")
x = x.clone()
torch.cuda.synchronize()
torch.cuda.empty_cache()
report("clone")
model.cpu()
optimizer.state.clear()
torch.cuda.empty_cache()
report("model on the host")
model.half().cuda()
y = model(x.half())
report("half")
