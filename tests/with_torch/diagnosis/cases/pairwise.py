import torch
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 128))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


@torch.no_grad()
def embed(encoder, n, batch=512):
    parts = [encoder(torch.randn(batch, 512, device="cuda")) for _ in range(n // batch)]
    return torch.cat(parts)


def recall_at(queries, gallery, k):
    difference = queries[:, None, :] - gallery[None, :, :]
    distance = difference.pow(2).sum(-1)
    return distance.topk(k, largest=False).indices


encoder = Encoder().cuda()
gallery = embed(encoder, 8192)
queries = embed(encoder, 1024)
print(recall_at(queries, gallery, 5).shape)
