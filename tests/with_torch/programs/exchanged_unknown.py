"""Ranks that exchange a number of rows which a kernel counts: what they allocate of it is not known."""
import os

import torch
import torch.distributed as dist


def main():
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl")
    scores = torch.nn.Linear(64, 64).cuda()(torch.randn(1000, 64, device="cuda"))
    count = (scores[:, 0] > 0).sum()
    counts = [torch.empty_like(count) for _ in range(2)]
    dist.all_gather(counts, count)
    rows = [torch.zeros(n.item(), 4, device="cuda") for n in counts]
    on_host = [torch.zeros(1, dtype=torch.int64) for _ in range(2)]
    dist.all_gather(on_host, count.cpu().view(1), group=dist.new_group(backend="gloo"))
    longest = on_host[1].item()
    rows.append(torch.zeros(longest, 4))
    total = torch.tensor([5], device="cuda")
    dist.all_reduce(total)
    assert torch.zeros(total.item()).shape == (10,)
    assert len(rows) == 3
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
