"""GPUs that train one model together, by the way that the command line names: with values computed, their
losses are those of the host, which has all of each batch."""
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DataParallel, DistributedDataParallel

try:
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
except ImportError:
    fully_shard = None

STEPS, ROWS, WIDTH = 5, 16, 32


class Block(nn.Module):
    def __init__(self, norm):
        super().__init__()
        self.norm = norm
        self.rise = nn.Linear(WIDTH, 4 * WIDTH)
        self.fall = nn.Linear(4 * WIDTH, WIDTH)
        self.register_buffer("scale", torch.full((WIDTH,), 0.5))

    def forward(self, x):
        return x + self.scale * self.fall(F.gelu(self.rise(self.norm(x))))


def norm_of(way):
    if way == "sharded_bfloat16":
        return nn.Identity()
    return nn.BatchNorm1d(WIDTH) if way == "synchronized" else nn.LayerNorm(WIDTH)


def host_model(way):
    torch.manual_seed(0)
    norms = [norm_of(way) for _ in range(2)]
    return nn.Sequential(*(Block(norm) for norm in norms), nn.Linear(WIDTH, 10))


def batches():
    generator = torch.Generator().manual_seed(1)
    return [(torch.randn(ROWS, WIDTH, generator=generator),
             torch.randint(10, (ROWS,), generator=generator)) for _ in range(STEPS)]


def train(model, part_of, total_of):
    """Losses of all steps."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for batch in batches():
        rows, labels = (part_of(tensor) for tensor in batch)
        loss = F.cross_entropy(model(rows), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(total_of(loss.detach()))
    return torch.tensor(losses)


def averaged(loss):
    dist.all_reduce(loss, dist.ReduceOp.AVG)
    return loss.item()


def in_parallel(way, device):
    model = host_model(way).to(device)
    if way == "data_parallel":
        return DataParallel(model, device_ids=[0, 1])
    if way == "synchronized":
        model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    if way in ("distributed", "synchronized"):
        return DistributedDataParallel(model, device_ids=[device.index], bucket_cap_mb=0.02)
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16) if way == "sharded_bfloat16" else None
    options = {"mp_policy": policy} if policy else {}
    for block in model:
        fully_shard(block, **options)
    return fully_shard(model, **options)


def main(way):
    expected = train(host_model(way), lambda tensor: tensor, lambda loss: loss.item())
    if way == "data_parallel":
        device = torch.device("cuda", 0)
        losses = train(in_parallel(way, device), lambda tensor: tensor.to(device),
                       lambda loss: loss.item())
    else:
        rank = int(os.environ["LOCAL_RANK"])
        device = torch.device("cuda", rank)
        torch.cuda.set_device(device)
        dist.init_process_group("nccl")
        losses = train(in_parallel(way, device), lambda tensor: tensor.to(device).chunk(2)[rank],
                       averaged)
        dist.destroy_process_group()
    tolerance = 0.05 if way == "sharded_bfloat16" else 1e-4
    assert torch.allclose(losses, expected, atol=tolerance), (losses, expected)
    if not int(os.environ.get("LOCAL_RANK", "0")):
        print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())


if __name__ == "__main__":
    main(sys.argv[1])
