"""Each step hands 128 MiB to another stream and lets go of them (record_stream)."""
import torch

side = torch.cuda.Stream()
for _ in range(16):
    batch = torch.empty(128 << 20, dtype=torch.uint8, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        batch.zero_()
    batch.record_stream(side)
    del batch

event = torch.cuda.Event()
torch.ones(1, device="cuda").add_(1)
event.record()
ready = event.query()
event.synchronize()
statistics = torch.cuda.memory_stats()
print("reserved", statistics["reserved_bytes.all.peak"], "retries", statistics["num_alloc_retries"],
      "out of memory", statistics["num_ooms"], "ready", ready, event.query())
