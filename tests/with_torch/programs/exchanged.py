"""Ranks of torchrun's that exchange objects, sizes and stages over NCCL: what they receive is what was sent."""
import os

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from torch import nn
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe


def exchange_objects(rank):
    gathered = [None, None]
    dist.all_gather_object(gathered, {"rank": rank, "text": "x" * (rank + 1)})
    assert gathered == [{"rank": r, "text": "x" * (r + 1)} for r in range(2)], gathered
    objects = [{"a": 1}, "two", [3.5]] if rank == 0 else [None, None, None]
    dist.broadcast_object_list(objects, src=0)
    assert objects == [{"a": 1}, "two", [3.5]], objects
    if rank == 0:
        dist.send_object_list([{"b": 2}], dst=1)
    else:
        received = [None]
        dist.recv_object_list(received, src=0)
        assert received == [{"b": 2}], received
    gathered = [None, None] if rank == 0 else None
    dist.gather_object(("from", rank), gathered, dst=0)
    assert rank == 1 or gathered == [("from", 0), ("from", 1)], gathered
    scattered = [None]
    dist.scatter_object_list(scattered, ["zero", "one"] if rank == 0 else None, src=0)
    assert scattered == [["zero", "one"][rank]], scattered


def exchange_shapes(rank):
    """Each receives a tensor of the size that the other tells it."""
    mine = torch.arange(3 + rank, device="cuda")
    size = torch.tensor([len(mine)], device="cuda")
    other_size = torch.empty_like(size)
    for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, size, 1 - rank),
                                        dist.P2POp(dist.irecv, other_size, 1 - rank)]):
        work.wait()
    other = torch.empty(other_size.item(), dtype=torch.int64, device="cuda")
    for call, tensor in ((dist.isend, mine), (dist.irecv, other))[::-1 if rank else 1]:
        call(tensor, 1 - rank).wait()
    assert other.tolist() == list(range(4 - rank)), other


def exchange_parts(rank):
    ranks = torch.full((2,), rank, device="cuda")
    all_ranks = torch.empty(4, dtype=torch.int64, device="cuda")
    work = dist.all_gather_into_tensor(all_ranks, ranks, async_op=True)
    work.wait()
    assert all_ranks.tolist() == [0, 0, 1, 1]
    part = torch.empty(2, dtype=torch.int64, device="cuda")
    dist.reduce_scatter_tensor(part, all_ranks)
    assert part.tolist() == [2 * rank, 2 * rank]
    dist.all_to_all_single(part, torch.tensor([10 * rank, 10 * rank + 1], device="cuda"))
    assert part.tolist() == [rank, 10 + rank]
    half = torch.tensor([1.5 + rank], dtype=torch.bfloat16, device="cuda")
    dist.all_reduce(half, dist.ReduceOp.AVG)
    assert half.item() == 2
    total = functional.all_reduce(ranks, "sum", dist.group.WORLD)
    assert torch.zeros(int(total.max()), device="cuda").shape == (1,)
    longest = torch.tensor([7 + rank], device="cuda")
    dist.all_reduce(longest, dist.ReduceOp.MAX)
    assert torch.zeros(longest.item()).shape == (8,)


def pipeline(rank):
    """Two stages, whose shapes the first tells the second."""
    torch.manual_seed(rank)
    module = nn.Sequential(nn.Linear(64, 64), nn.ReLU()).cuda()
    stage = PipelineStage(module, rank, 2, torch.device("cuda", rank))
    schedule = ScheduleGPipe(stage, n_microbatches=4, loss_fn=nn.functional.mse_loss)
    for _ in range(2):
        if rank == 0:
            schedule.step(torch.randn(32, 64, device="cuda"))
        else:
            losses = []
            output = schedule.step(target=torch.randn(32, 64, device="cuda"), losses=losses)
            assert output.shape == (32, 64) and len(losses) == 4
    assert module[0].weight.grad.shape == (64, 64)


def main():
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl")
    exchange_objects(rank)
    exchange_shapes(rank)
    exchange_parts(rank)
    pipeline(rank)
    nn.parallel.DistributedDataParallel(nn.Linear(8, 8).cuda(), device_ids=[rank])
    dist.monitored_barrier(dist.new_group(backend="gloo"))
    if rank == 0:
        print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
