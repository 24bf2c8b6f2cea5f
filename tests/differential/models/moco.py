import copy
import torch
from torch import nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 3, stride=2, padding=1)
        self.bn1 = nn.BatchNorm2d(32)
        self.conv2 = nn.Conv2d(32, 64, 3, stride=2, padding=1)
        self.bn2 = nn.BatchNorm2d(64)
        self.fc = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, dim))

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.relu(self.bn2(self.conv2(x)))
        x = x.mean(dim=[2, 3])
        return self.fc(x)


class MoCo(nn.Module):
    def __init__(self, dim=64, K=256, m=0.999, T=0.07):
        super().__init__()
        self.K = K
        self.m = m
        self.T = T
        self.encoder_q = Encoder(dim)
        self.encoder_k = Encoder(dim)
        for pq, pk in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            pk.data.copy_(pq.data)
            pk.requires_grad = False
        self.register_buffer("queue", F.normalize(torch.randn(dim, K), dim=0))
        self.register_buffer("queue_ptr", torch.zeros(1, dtype=torch.long))

    def momentum_update(self):
        with torch.no_grad():
            for pq, pk in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
                pk.data = pk.data * self.m + pq.data * (1.0 - self.m)

    def enqueue(self, keys, ptr):
        with torch.no_grad():
            n = keys.shape[0]
            self.queue[:, ptr : ptr + n] = keys.t()
            self.queue_ptr[0] = (ptr + n) % self.K

    def forward(self, im_q, im_k, ptr):
        q = self.encoder_q(im_q)
        q = F.normalize(q, dim=1)
        with torch.no_grad():
            self.momentum_update()
            idx = torch.randperm(im_k.shape[0], device="cuda")
            back = torch.argsort(idx)
            k = self.encoder_k(im_k[idx])
            k = F.normalize(k, dim=1)
            k = k[back]
        l_pos = torch.einsum("nc,nc->n", [q, k]).unsqueeze(-1)
        l_neg = torch.einsum("nc,ck->nk", [q, self.queue.clone().detach()])
        logits = torch.cat([l_pos, l_neg], dim=1)
        logits /= self.T
        labels = torch.zeros(logits.shape[0], dtype=torch.long).cuda()
        self.enqueue(k, ptr)
        return logits, labels


model = MoCo().cuda()
optimizer = torch.optim.SGD(model.encoder_q.parameters(), lr=0.03, momentum=0.9, weight_decay=1e-4)
criterion = nn.CrossEntropyLoss().cuda()
mark("model")
for step in range(3):
    images = torch.randn(32, 3, 16, 16)
    view1 = images.cuda(non_blocking=True)
    view2 = torch.flip(view1, [3]) + 0.1 * torch.randn_like(view1)
    output, target = model(view1, view2, step * 32)
    loss = criterion(output, target)
    mark(f"forward {step}")
    _, pred = output.topk(5, 1)
    correct = pred.t().eq(target.view(1, -1).expand_as(pred.t()))
    top1 = correct[:1].reshape(-1).float().sum(0, keepdim=True).mul_(100.0 / 32).item()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mark(f"step {step}")
