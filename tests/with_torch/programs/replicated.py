"""Values that are known on one GPU are known on the others of a process, wherever they were copied to."""
import torch
from torch import nn
from torch.cuda import comm, nccl
from torch.nn.parallel import DataParallel


class Padded(nn.Module):
    """As long as its buffer says."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.register_buffer("lengths", torch.tensor([3, 5]))

    def forward(self, rows, mask):
        longest = int(self.lengths.max())
        assert longest == 5, self.lengths
        kept = self.linear(rows)[mask]
        return torch.cat([kept, kept.new_zeros(longest - len(kept), 8)])


def main():
    numbers = torch.arange(6).to("cuda:0")
    assert torch.zeros(numbers.to("cuda:1").sum().item()).shape == (15,)
    large = torch.arange(1 << 20, device="cuda:0").to("cuda:1")
    assert large[-1].item() == (1 << 20) - 1
    for copy in comm.broadcast(numbers, [0, 1]):
        assert (copy * 2).tolist() == [0, 2, 4, 6, 8, 10]
    for first, second in comm.broadcast_coalesced([numbers, numbers + 1], [0, 1]):
        assert (second - first).tolist() == [1] * 6
    parts = comm.scatter(numbers, [0, 1])
    assert [part.tolist() for part in parts] == [[0, 1, 2], [3, 4, 5]]
    assert comm.gather(parts, destination=1).tolist() == list(range(6))
    total = comm.reduce_add([numbers, numbers.to("cuda:1")], destination=0)
    assert (total + 0).tolist() == [0, 2, 4, 6, 8, 10]
    both = [numbers.clone(), numbers.to("cuda:1")]
    nccl.all_reduce(both)
    assert [int(tensor.max()) for tensor in both] == [10, 10]

    model = DataParallel(Padded().cuda(), device_ids=[0, 1])
    mask = torch.tensor([True, True, False, True] * 2).cuda()
    output = model(torch.randn(8, 8, device="cuda"), mask)
    assert output.shape == (10, 8)
    output.sum().backward()
    assert model.module.linear.weight.grad is not None
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())


if __name__ == "__main__":
    main()
