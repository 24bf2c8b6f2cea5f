"""A rank of torchrun's: DistributedDataParallel over the backend that the command line names."""
import os
import sys

import torch
import torch.distributed as dist
from torch import nn


def main(backend):
    rank, local = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group(backend)
    assert dist.get_world_size() == 2
    model = nn.parallel.DistributedDataParallel(
        nn.Sequential(nn.Linear(2048, 4096), nn.ReLU(), nn.Linear(4096, 2048)).cuda(),
        device_ids=[local])
    weights = sum(p.numel() * p.element_size() for p in model.parameters())
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(3):
        model(torch.randn(64, 2048, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    places = [torch.empty(1, dtype=torch.int64, device="cuda") for _ in range(2)]
    dist.all_gather(places, torch.tensor([torch.cuda.current_device()]).cuda())
    assert [place.item() for place in places] == [0, 1], places
    tokens = torch.tensor([100 + rank]).cuda()
    dist.all_reduce(tokens)
    assert tokens.item() == 201
    dist.barrier()
    # Weights, gradients in buckets, two moments.
    assert torch.cuda.max_memory_allocated() > 4 * weights
    if rank == 0:
        print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
