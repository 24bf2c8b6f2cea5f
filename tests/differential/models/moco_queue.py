import copy
import torch
from torch import nn
import torch.nn.functional as F


class MoCo(nn.Module):
    def __init__(self, dim, size):
        super().__init__()
        self.q = nn.Sequential(nn.Linear(200, 400), nn.BatchNorm1d(400), nn.ReLU(), nn.Linear(400, dim))
        self.k = copy.deepcopy(self.q)
        for p in self.k.parameters():
            p.requires_grad = False
        self.register_buffer("queue", F.normalize(torch.randn(dim, size), dim=0))
        self.register_buffer("place", torch.zeros(1, dtype=torch.long))

    def forward(self, a, b):
        q = F.normalize(self.q(a), dim=1)
        with torch.no_grad():
            for p, t in zip(self.q.parameters(), self.k.parameters()):
                t.data = t.data * 0.99 + p.data * 0.01
            order = torch.randperm(b.shape[0], device="cuda")
            back = torch.argsort(order)
            k = F.normalize(self.k(b[order]), dim=1)[back]
        pos = torch.einsum("nc,nc->n", q, k).unsqueeze(-1)
        neg = torch.einsum("nc,ck->nk", q, self.queue.clone().detach())
        logits = torch.cat([pos, neg], dim=1) / 0.07
        labels = torch.zeros(logits.shape[0], dtype=torch.long, device="cuda")
        return F.cross_entropy(logits, labels), k


model = MoCo(64, 512).cuda()
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.03, momentum=0.9, weight_decay=1e-4)
place = 0
mark("model")
for step in range(4):
    x = torch.randn(32, 200, device="cuda")
    loss, k = model(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
    mark(f"forward {step}")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        model.queue[:, place:place + 32] = k.t()
        place = (place + 32) % 512
        model.place.fill_(place)
    mark(f"step {step}")
