import copy
import torch
from torch import nn
import torch.nn.functional as F

ways, shots, queries = 5, 3, 4


def block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout, track_running_stats=False), nn.ReLU(), nn.MaxPool2d(2))


encoder = nn.Sequential(block(1, 24), block(24, 24), block(24, 32), nn.Flatten()).cuda()
optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)
mark("encoder")
for episode in range(2):
    support = torch.randn(ways * shots, 1, 20, 20, device="cuda")
    query = torch.randn(ways * queries, 1, 20, 20, device="cuda")
    labels = torch.arange(ways, device="cuda").repeat_interleave(queries)
    z = encoder(torch.cat([support, query], 0))
    z_support, z_query = z.split([ways * shots, ways * queries])
    prototypes = z_support.view(ways, shots, -1).mean(1)
    dists = torch.pow(z_query.unsqueeze(1) - prototypes.unsqueeze(0), 2).sum(2)
    loss = F.nll_loss(F.log_softmax(-dists, dim=1), labels)
    acc = ((-dists).argmax(1) == labels).float().mean().item()
    mark(f"forward {episode}")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mark(f"step {episode}")

head = nn.Sequential(encoder, nn.Linear(128, ways)).cuda()
mark("head")
for task in range(2):
    before = {n: p.clone() for n, p in head.state_dict().items()}
    fast = copy.deepcopy(head)
    inner = torch.optim.SGD(fast.parameters(), lr=0.02)
    for k in range(2):
        x = torch.randn(10, 1, 20, 20, device="cuda")
        y = torch.randint(0, ways, (10,), device="cuda")
        loss = F.cross_entropy(fast(x), y)
        inner.zero_grad()
        loss.backward()
        inner.step()
    mark(f"adapted {task}")
    with torch.no_grad():
        for p, q in zip(head.parameters(), fast.parameters()):
            p.add_(q - p, alpha=0.1)
    mark(f"outer {task}")
del fast, inner, before
mark("dropped")
