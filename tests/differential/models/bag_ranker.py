import torch
from torch import nn
import torch.nn.functional as F


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(900, 30, mode="mean")
        self.position = nn.Embedding(12, 30)
        self.cross = nn.ModuleList([nn.Linear(60, 60) for i in range(3)])
        self.deep = nn.Sequential(nn.Linear(60, 80), nn.PReLU(), nn.Dropout(0.1), nn.Linear(80, 20), nn.PReLU(20))
        self.out = nn.Linear(80, 1)

    def forward(self, tokens, offsets, slots):
        q = self.bag(tokens, offsets)
        x0 = torch.cat([q, self.position(slots)], dim=1)
        x = x0
        for layer in self.cross:
            x = x0 * layer(x) + x
        return self.out(torch.cat([x, self.deep(x0)], dim=1)).squeeze(1)


def listnet(scores, relevance, sizes):
    losses = []
    for s, r in zip(scores.split(sizes), relevance.split(sizes)):
        losses.append(-(r.softmax(0) * s.log_softmax(0)).sum())
    return torch.stack(losses).mean()


def approx_ndcg(scores, relevance):
    order = relevance.argsort(dim=-1, descending=True)
    gains = (2.0 ** relevance.gather(-1, order)) - 1
    discounts = 1 / torch.log2(torch.arange(relevance.size(-1), device="cuda").float() + 2)
    ideal = (gains * discounts).sum(-1).clamp(min=1e-6)
    difference = scores.unsqueeze(-1) - scores.unsqueeze(-2)
    rank = 1 + torch.sigmoid(-difference / 0.1).sum(-1) - 0.5
    dcg = ((2.0 ** relevance - 1) / torch.log2(rank + 1)).sum(-1)
    return 1 - (dcg / ideal).mean()


model = Ranker().cuda()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05, lr_decay=1e-3)
mark("model")
for step in range(3):
    sizes = [7, 12, 4 + step]
    total = 23 + step
    tokens = torch.randint(0, 900, (total * 5,), device="cuda")
    offsets = torch.arange(0, total * 5, 5, device="cuda")
    slots = torch.randint(0, 12, (total,), device="cuda")
    relevance = torch.randint(0, 5, (total,), device="cuda").float()
    scores = model(tokens, offsets, slots)
    loss = listnet(scores, relevance, sizes) + approx_ndcg(scores[:12].view(3, 4), relevance[:12].view(3, 4))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mark(f"step {step}")
model.eval()
with torch.no_grad():
    scores = torch.sigmoid(model(tokens, offsets, slots))
    edges = torch.linspace(0, 1, 6, device="cuda")
    bins = torch.bucketize(scores, edges)
    counts = torch.zeros(8, device="cuda").scatter_add_(0, bins, torch.ones_like(scores))
    confidence = torch.zeros(8, device="cuda").scatter_add_(0, bins, scores)
    ece = ((confidence - counts * 0.5).abs() / counts.clamp(min=1)).sum().item()
    s, i = torch.sort(scores, descending=True)
    hits = (relevance[i] > 2).float().cumsum(0) / torch.arange(1, total + 1, device="cuda")
mark("calibrated")
