"""A function that branches on a value which is not computed: its variables end with it."""
import gc

import torch

gc.disable()


def branches():
    kept = torch.empty(1 << 20, device="cuda")
    if torch.empty(4096, 4096, device="cuda").exp().sum() > 0:
        kept = kept + 1


branches()
print(torch.cuda.memory_allocated(), "bytes are alive")
