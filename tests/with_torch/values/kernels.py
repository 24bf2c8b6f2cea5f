"""Kernels that no operator of PyTorch's calls."""
import torch
import triton
import triton.language as tl

from cases import case


@triton.jit
def add_to(target, source, count, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < count
    address = target + places
    numbers = tl.load(source + places, mask=inside)
    tl.store(address, tl.load(address, mask=inside) + numbers, mask=inside)


@case(result=False)
def written_by_triton(device):
    if device == "cpu":
        return
    target = torch.zeros(64, device=device)
    source = torch.ones(64, device=device)
    add_to[(1,)](target, source, 64, BLOCK=64)
    print(int(source.sum()) == 64)
    return bool(target[0] > 0), torch.zeros(int(source.sum()), device=device).numel()  # branch


@case
def read_by_triton(device, decide):
    ids = decide(torch.randint(0, 9, (64,)))
    if ids.is_cuda:
        made = torch.empty_like(ids)
        add_to[(1,)](made, ids, 64, BLOCK=64)
    return ids.sum(), tuple(torch.randn(64, 512).to(device)[ids > 4].shape)


@case(result=False)
def compiled_by_inductor(device):
    if device == "cpu":
        return
    known = torch.arange(64.0, device=device)
    made = torch.compile(lambda x: (x * 2 + 1).relu())(known)
    return int(known.sum()), bool(made[0] > 0)  # branch


@case(result=False)
def mutated_by_inductor(device):
    if device == "cpu":
        return
    known = torch.zeros(64, device=device)

    @torch.compile
    def step(numbers):
        numbers.mul_(2).add_(1)

    step(known)
    return bool(known[0] > 0)  # branch


@case
def compiled_eagerly(device, decide):
    ids = decide(torch.randint(0, 9, (64,)))
    chosen = torch.compile(lambda x: x % 3 == 0, backend="aot_eager")(ids)
    return chosen.sum(), tuple(torch.randn(64, 512).to(device)[chosen].shape)


@torch.library.custom_op("cases::selected", mutates_args=())
def selected(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return x[mask].clone()


@case
def operator_in_python(device, decide):
    mask = decide(torch.rand(256) < 0.3)
    made = selected(torch.randn(256, 512).to(device), mask.to(device))
    again = selected(torch.arange(256).to(mask.device), mask) > 99
    return tuple(made.shape), tuple(torch.randn(len(again), 512).to(device)[again.to(device)].shape)
