import pytest
import torch

from counting.data import PADDING, VOCABULARY
from counting.training import masked_loss, train


def test_the_loss_decreases_over_30_steps(model, loader):
    losses = train(model, loader, steps=30, device="cuda")
    assert losses[-1] < losses[0] / 2


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_mixed_precision_learns_as_well(model, loader, dtype):
    losses = train(model, loader, steps=30, device="cuda", dtype=dtype)
    assert all(map(torch.isfinite, map(torch.tensor, losses)))
    assert losses[-1] < losses[0] / 2


def test_padding_does_not_count(model):
    logits = torch.randn(4, 6, VOCABULARY, device="cuda", requires_grad=True)
    targets = torch.randint(VOCABULARY, (4, 6), device="cuda")
    targets[:, 4:] = PADDING
    masked_loss(logits, targets).backward()
    assert (logits.grad[:, 4:] == 0).all()
    assert (logits.grad[:, :4] != 0).any(dim=-1).all()


def test_training_stays_within_its_memory(model, loader):
    torch.cuda.reset_peak_memory_stats()
    train(model, loader, steps=3, device="cuda")
    peak = torch.cuda.max_memory_allocated()
    assert 1 << 20 < peak < 64 << 20
