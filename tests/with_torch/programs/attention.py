"""Attention in half precision by the kernel that PyTorch prefers on this card: a step of training, with
a mask and without, and one of inference."""
import torch
import torch.nn.functional as F

BATCH, HEADS, LENGTH, WIDTH = 8, 16, 1024, 64
BYTES = BATCH * HEADS * LENGTH * WIDTH * 2


def grown(what):
    before = torch.cuda.memory_allocated()
    result = what()
    return result, torch.cuda.memory_allocated() - before


inputs = [torch.randn(BATCH, HEADS, LENGTH, WIDTH, device="cuda", dtype=torch.bfloat16,
                      requires_grad=True) for _ in range(3)]
mask = torch.ones(LENGTH, LENGTH, device="cuda", dtype=torch.bool)
by_cudnn = torch.cuda.get_device_capability()[0] == 9 and torch.backends.cudnn.version() > 91500
for options in ({"is_causal": True}, {"attn_mask": mask}):
    result, kept = grown(lambda: F.scaled_dot_product_attention(*inputs, **options))
    kernel = type(result.grad_fn).__name__
    assert ("Cudnn" in kernel) == by_cudnn, kernel
    # The result, a float32 number for each of its rows, and maybe a mask that can be added.
    assert BYTES + BYTES // WIDTH * 2 <= kept <= BYTES + BYTES // WIDTH * 2 + 2 * LENGTH**2 + 4096, kept
    gradients, made = grown(lambda: torch.autograd.grad(result.sum(), inputs))
    assert made <= 3 * BYTES, made
    del result, gradients
with torch.inference_mode():
    result, kept = grown(lambda: F.scaled_dot_product_attention(*inputs))
    assert kept == BYTES, kept
print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
