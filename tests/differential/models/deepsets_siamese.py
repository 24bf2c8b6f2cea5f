import torch
from torch import nn
import torch.nn.functional as F


class PMA(nn.Module):
    def __init__(self, width, seeds):
        super().__init__()
        self.seeds = nn.Parameter(torch.empty(1, seeds, width))
        nn.init.xavier_uniform_(self.seeds)
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.norm = nn.LayerNorm(width)

    def forward(self, x, mask=None):
        s = self.seeds.expand(x.size(0), -1, -1)
        return self.norm(s + self.attention(s, x, x, key_padding_mask=mask, need_weights=False)[0])


class Encoder(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.phi = nn.Sequential(nn.Linear(5, width), nn.PReLU(), nn.Linear(width, width))
        self.pool = PMA(width, 2)
        self.rho = nn.Sequential(nn.Flatten(), nn.Linear(2 * width, width), nn.BatchNorm1d(width, affine=False))

    def forward(self, x, lengths):
        mask = torch.arange(x.size(1), device=x.device).expand(len(lengths), -1) >= lengths.unsqueeze(1)
        return F.normalize(self.rho(self.pool(self.phi(x), mask)), dim=-1)


class ArcFace(nn.Module):
    def __init__(self, width=32, classes=20, s=16.0, m=0.3):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(classes, width))
        nn.init.xavier_uniform_(self.weight)
        self.s, self.m = s, m

    def forward(self, x, y):
        cosine = F.linear(F.normalize(x), F.normalize(self.weight)).clamp(-1 + 1e-7, 1 - 1e-7)
        theta = torch.acos(cosine)
        hot = torch.zeros_like(cosine)
        hot.scatter_(1, y.view(-1, 1).long(), 1)
        return self.s * torch.where(hot.bool(), torch.cos(theta + self.m), cosine)


encoder, head = Encoder().cuda(), ArcFace().cuda()
optimizer = torch.optim.AdamW([{"params": encoder.parameters()}, {"params": head.parameters(), "weight_decay": 0.0}], lr=1e-3, amsgrad=True)
mark("models")
for step in range(2):
    a, b = torch.randn(12, 9, 5, device="cuda"), torch.randn(12, 9, 5, device="cuda")
    lengths = torch.randint(1, 10, (12,), device="cuda")
    same = torch.randint(0, 2, (12,), device="cuda").float()
    ea, eb = encoder(a, lengths), encoder(b, lengths)
    distance = F.pairwise_distance(ea, eb)
    contrastive = (same * distance.pow(2) + (1 - same) * F.relu(1.0 - distance).pow(2)).mean()
    arc = F.cross_entropy(head(ea, torch.randint(0, 20, (12,), device="cuda")), torch.randint(0, 20, (12,), device="cuda"))
    matrix = torch.cdist(ea, eb)
    hardest = matrix.masked_fill(torch.eye(12, dtype=torch.bool, device="cuda"), float("inf")).min(dim=1).values
    triplet = torch.clamp(matrix.diagonal() - hardest + 0.2, min=0.0).mean()
    loss = contrastive + arc + triplet
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mark(f"step {step}")
