"""Values that come from the host, and sizes and branches that depend on them: they are what they would
be on a card. With --computed, values that kernels compute, too."""
import sys

import torch

labels = torch.tensor([3, 0, 2, 2, 1, 3, 3, 0]).cuda()
mask = labels != 3
assert mask.sum().item() == 5 and labels[mask].tolist() == [0, 2, 2, 1, 0]
assert mask.nonzero().flatten().tolist() == [1, 2, 3, 4, 7]
assert torch.unique(labels).tolist() == [0, 1, 2, 3]
assert torch.bincount(labels).tolist() == [2, 1, 2, 3]
counts = torch.tensor([2, 0, 3], device="cuda")
assert torch.repeat_interleave(counts).tolist() == [0, 0, 2, 2, 2]
order = torch.argsort(labels, stable=True)
assert order.tolist() == [1, 7, 4, 2, 3, 0, 5, 6]
activations = torch.randn(8, 512, 512, device="cuda")
assert activations[mask].shape == (5, 512, 512)
lengths = torch.full((4,), 7, device="cuda")
packed = torch.nn.utils.rnn.pad_sequence(list(torch.arange(28, device="cuda").split(lengths.tolist())))
assert packed.shape == (7, 4)

if sys.argv[1:] == ["--computed"]:
    weights = torch.randn(64, 64, device="cuda")
    inverse = torch.linalg.inv(weights)
    torch.testing.assert_close(weights @ inverse, torch.eye(64, device="cuda"), rtol=0, atol=0.01)
    positive = weights[weights > 0]
    assert 1500 < len(positive) < 2600 and positive.min() > 0
    weights.requires_grad_()
    weights.square().sum().backward()
    torch.testing.assert_close(weights.grad.cpu(), 2 * weights.detach().cpu())
print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
