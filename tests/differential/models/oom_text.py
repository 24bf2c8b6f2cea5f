import torch
from torch import nn
import torch.nn.functional as F

torch.cuda.set_per_process_memory_fraction(0.02)
model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(), nn.Linear(4000, 10)).cuda()
kept = []
text = ""
mark("model")
for step in range(12):
    failed = False
    try:
        x = torch.randn(20000 * (step + 1), 1000, device="cuda")
        out = model(x)
        out.sum().backward()
    except torch.cuda.OutOfMemoryError as error:
        failed = True
        text = str(error)
    if failed:
        mark(text)
        x, out = None, None
        model.zero_grad(set_to_none=True)
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    mark(f"step {step}")
