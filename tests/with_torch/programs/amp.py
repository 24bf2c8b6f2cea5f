"""An fp16 loop with a GradScaler, clipping and accumulated gradients."""
import torch
from torch import nn

model = nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.LayerNorm(4096),
                      nn.Linear(4096, 1024), nn.GELU(), nn.Linear(1024, 10)).cuda()
weights = sum(p.numel() * p.element_size() for p in model.parameters())
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
scaler = torch.amp.GradScaler("cuda", init_scale=1024.0, growth_interval=2)
for step in range(8):
    x = torch.randn(2048, 1024, device="cuda")
    y = torch.randint(0, 10, (2048,), device="cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        logits = model(x)
        loss = nn.functional.cross_entropy(logits, y)
    scaler.scale(loss / 2).backward()
    if step % 2 == 1:
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
assert logits.dtype == torch.float16
assert loss.dtype == torch.float32
# Weights and two moments stay; gradients come on top of them.
assert torch.cuda.memory_allocated() > 3 * weights
assert torch.cuda.max_memory_allocated() > 4 * weights
print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
