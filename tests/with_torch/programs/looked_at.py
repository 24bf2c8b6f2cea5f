"""Values that a program looks at: no loss is a NaN and no solver has a complaint, whatever lay in their
blocks before."""
import torch

for step in range(20):
    # What is given back here holds other bytes than zeros.
    labels = [torch.tensor([255] * count, dtype=torch.uint8, device="cuda") for count in (1, 4, 100)]
    del labels
    scores = torch.randn(64, 64, device="cuda", requires_grad=True)
    loss = (scores @ scores).square().mean()
    assert not torch.isnan(loss) and torch.isfinite(loss) and not scores.isnan().any()
    assert torch.isfinite(scores).all() and loss.item() == 0
    for solve in (torch.linalg.inv, torch.linalg.svd, torch.linalg.eigh, torch.linalg.cholesky,
                  torch.linalg.qr, torch.linalg.slogdet):
        solve(scores[:8, :8].detach())
        solve(scores.detach().view(16, 16, 16)[:4])
    kept = scores[scores > 0]
    assert kept.numel() == 0
    loss.backward()
ok = torch.isfinite(scores)
ok &= scores > 0
assert not ok.all()  # what was written since is not known
assert torch.isfinite(torch.tensor([1.0, float("inf")])).tolist() == [True, False]
big = torch.empty(64 << 20, device="cuda")
print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
