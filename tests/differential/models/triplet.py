import torch
from torch import nn
import torch.nn.functional as F


class EmbeddingNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.convnet = nn.Sequential(nn.Conv2d(1, 16, 5), nn.PReLU(), nn.MaxPool2d(2, stride=2),
                                     nn.Conv2d(16, 32, 5), nn.PReLU(), nn.MaxPool2d(2, stride=2))
        self.fc = nn.Sequential(nn.Linear(32 * 4 * 4, 64), nn.PReLU(), nn.Linear(64, 16))

    def forward(self, x):
        output = self.convnet(x)
        output = output.view(output.size()[0], -1)
        return F.normalize(self.fc(output), p=2, dim=1)


class Siamese(nn.Module):
    def __init__(self, embedding):
        super().__init__()
        self.embedding = embedding

    def forward(self, a, p, n):
        return self.embedding(a), self.embedding(p), self.embedding(n)


model = Siamese(EmbeddingNet()).cuda()
criterion = nn.TripletMarginLoss(margin=0.2, p=2)
opt = torch.optim.Adagrad(model.parameters(), lr=1e-2)
mark("model")
for step in range(2):
    anchor = torch.randn(8, 1, 28, 28, device="cuda")
    positive = anchor + 0.1 * torch.randn_like(anchor)
    negative = torch.randn(8, 1, 28, 28, device="cuda")
    a, p, n = model(anchor, positive, negative)
    loss = criterion(a, p, n)
    mark(f"forward {step}")
    opt.zero_grad()
    loss.backward()
    opt.step()
    mark(f"triplet {step}")
    a, p, n = model(anchor, positive, negative)
    same = (a - p).pow(2).sum(1)
    other = (a - n).pow(2).sum(1)
    loss = (same + F.relu(1.0 - (other + 1e-9).sqrt()).pow(2)).mean() * 0.5
    opt.zero_grad()
    loss.backward()
    opt.step()
    mark(f"contrastive {step}")
model.eval()
with torch.no_grad():
    gallery = model.embedding(torch.randn(12, 1, 28, 28, device="cuda"))
    query = model.embedding(anchor)
    distances = torch.cdist(query, gallery)
    nearest = distances.topk(3, dim=1, largest=False)[1]
mark("retrieval")
