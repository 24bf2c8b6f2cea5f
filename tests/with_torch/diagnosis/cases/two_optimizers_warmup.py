import torch
from torch import nn

trunk = nn.Sequential(*[nn.Linear(768, 768) for _ in range(8)]).cuda()
head = nn.Linear(768, 5).cuda()
opt_head = torch.optim.AdamW(head.parameters())
opt_all = torch.optim.AdamW([*trunk.parameters(), *head.parameters()], lr=1e-5)
for step in range(40):
    warm = step < 20
    x, y = torch.randn(128, 768, device="cuda"), torch.randint(5, (128,), device="cuda")
    with torch.set_grad_enabled(not warm):
        h = trunk(x)
    loss = nn.functional.cross_entropy(head(h), y)
    opt = opt_head if warm else opt_all
    opt.zero_grad()
    loss.backward()
    opt.step()
