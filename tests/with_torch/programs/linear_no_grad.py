"""What tests/golden/snapshots/linear_no_grad.pickle was recorded from, on a Hopper card."""
import sys

import torch

torch.cuda.memory._record_memory_history()
layer = torch.nn.Linear(10000, 50000, device="cuda")
with torch.no_grad():
    for _ in range(3):
        x = torch.randn(5000, 10000, device="cuda")
        y = layer(x)
torch.cuda.memory._dump_snapshot(sys.argv[1])
