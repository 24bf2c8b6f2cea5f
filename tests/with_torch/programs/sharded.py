"""A rank of torchrun's: FSDP2, parameters sharded over two GPUs and gathered layer by layer."""
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard


def main():
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    model = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(8)]).cuda()
    whole = sum(p.numel() * p.element_size() for p in model.parameters())
    for layer in model:
        fully_shard(layer)
    fully_shard(model)
    held = torch.cuda.memory_allocated()
    assert held < 0.6 * whole, "a rank holds its half"
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(2):
        model(torch.randn(64, 2048, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    # Half of the weights, of the gradients, of two moments, and some gathered layers.
    assert 2 * whole < torch.cuda.max_memory_allocated() < 4 * whole
    if dist.get_rank() == 0:
        print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
