"""bitsandbytes: Adam with moments of 8 bits, linear layers of 4 and 8 bits."""
import bitsandbytes
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4096, 4096), nn.Linear(4096, 4096)).cuda()
weights = sum(p.numel() * p.element_size() for p in model.parameters())
optimizer = bitsandbytes.optim.AdamW8bit(model.parameters())
batch = torch.randn(8, 4096, device="cuda")
for step in range(2):
    model(batch).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
# Two moments of a byte each for a weight of four, and the workspace of cuBLAS.
assert 1.5 * weights < torch.cuda.memory_allocated() < 1.75 * weights

half = batch.half()
four = bitsandbytes.nn.Linear4bit(4096, 4096, compute_dtype=torch.float16).cuda()
assert four.weight.nbytes == 4096 * 4096 // 2
assert four(half).shape == (8, 4096)
eight = bitsandbytes.nn.Linear8bitLt(4096, 4096, has_fp16_weights=False).cuda()
assert eight.weight.nbytes == 4096 * 4096
assert eight(half).shape == (8, 4096)
print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
