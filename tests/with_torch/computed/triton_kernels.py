"""Kernels of Triton that programs have written: Triton's interpreter computes them. Those that PyTorch's
own operators launch are computed with the operator."""
import torch
import triton
import triton.language as tl

from cases import numbers, sums


@triton.jit
def squared(x):
    return x * x


@triton.jit
def softmax_kernel(target, source, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    places = tl.arange(0, BLOCK)
    inside = places < columns
    values = tl.load(source + row * columns + places, mask=inside, other=-float("inf"))
    made = tl.exp(values - tl.max(values, axis=0))
    tl.store(target + row * columns + places, made / tl.sum(made, axis=0), mask=inside)


@triton.jit
def sum_kernel(total, source, count, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(source + places, mask=places < count, other=0.0)
    tl.atomic_add(total, tl.sum(squared(values), axis=0))


def timed(call, quantiles):
    call()
    return [1.0, 1.0, 1.0]


@triton.autotune([triton.Config({"BLOCK": 16}), triton.Config({"BLOCK": 32})], key=["size"],
                 do_bench=timed)
@triton.jit
def product_kernel(target, first, second, size: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    made = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, size, BLOCK):
        inner = start + tl.arange(0, BLOCK)
        left = tl.load(first + rows[:, None] * size + inner[None, :])
        right = tl.load(second + inner[:, None] * size + columns[None, :])
        made += tl.dot(left, right, input_precision="ieee")
    tl.store(target + rows[:, None] * size + columns[None, :], made)


def rows_of_softmax(device):
    x = numbers(5, 12).to(device)
    if device == "cpu":
        return sums(x.softmax(1))
    made = torch.empty_like(x)
    softmax_kernel[(5,)](made, x, 12, BLOCK=16)
    return sums(made)


def sum_of_squares(device):
    """By a function that the kernel calls, from several programs."""
    x = numbers(300).to(device)
    if device == "cpu":
        return sums(x.pow(2).sum())
    total = torch.zeros((), device=device)
    sum_kernel[lambda meta: (triton.cdiv(300, meta["BLOCK"]),)](total, x, 300, BLOCK=64)
    return sums(total)


def tuned_product(device):
    first, second = (numbers(64, 64, seed=seed).to(device) for seed in (1, 2))
    if device == "cpu":
        return sums(first @ second)
    made = torch.empty_like(first)
    product_kernel[lambda meta: (64 // meta["BLOCK"],) * 2](made, first, second, 64)
    return sums(made)


def differentiated(device):
    """Backward of a function whose forward pass is a kernel; compiled again afterwards."""

    class Softmax(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            made = torch.empty_like(x)
            softmax_kernel[(len(x),)](made, x, x.shape[1], BLOCK=32)
            context.save_for_backward(made)
            return made

        @staticmethod
        def backward(context, gradient):
            made, = context.saved_tensors
            return made * (gradient - (gradient * made).sum(1, keepdim=True))

    x = numbers(4, 20).to(device).requires_grad_()
    made = x.softmax(1) if device == "cpu" else Softmax.apply(x)
    (made * numbers(4, 20, seed=3).to(device)).sum().backward()
    return sums(made, x.grad)


def outer_products(device):
    """A kernel of Triton's in PyTorch 2.15."""
    columns, rows = numbers(3, 5, 1).to(device), numbers(3, 1, 7, seed=4).to(device)
    return sums(torch.bmm(columns, rows), columns @ rows)


CASES = [rows_of_softmax, sum_of_squares, tuned_product, differentiated, outer_products]
