"""Tests of a model as a project has them, for pytest."""
import pytest
import torch
from torch import nn


@pytest.fixture
def model():
    torch.cuda.reset_peak_memory_stats()
    yield nn.Linear(4096, 4096).cuda()
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_gradients_have_the_dtype_of_the_weights(model, dtype):
    model.to(dtype)(torch.randn(8, 4096, device="cuda", dtype=dtype)).sum().backward()
    assert model.weight.grad.dtype == dtype


def test_memory_is_returned(model):
    before = torch.cuda.memory_allocated()
    output = model(torch.randn(1024, 4096, device="cuda"))
    assert torch.cuda.memory_allocated() > before + 2 * output.nbytes - 1
    del output
    assert torch.cuda.memory_allocated() <= before + (64 << 20)


def test_too_much_is_refused(model):
    with pytest.raises(torch.cuda.OutOfMemoryError, match="CUDA out of memory"):
        torch.empty(1 << 50, dtype=torch.uint8, device="cuda")
