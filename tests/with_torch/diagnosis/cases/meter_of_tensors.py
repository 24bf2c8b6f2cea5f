import torch
import torch.nn as nn
import torch.nn.functional as F

class AverageMeter:
    def __init__(self):
        self.sum = 0
        self.count = 0

    def update(self, value, n=1):
        self.sum += value * n
        self.count += n

    @property
    def avg(self):
        return self.sum / self.count

def train_one_epoch(model, opt, meter):
    for _ in range(300):
        x = torch.randn(1024, 256, device="cuda")
        loss = model(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        meter.update(loss, x.shape[0])

def evaluate(model, meter):
    model.eval()
    for _ in range(300):
        x = torch.randn(4096, 256, device="cuda")
        meter.update(model(x).pow(2).mean(), 1)

model = nn.Sequential(*[nn.Sequential(nn.Linear(256, 256), nn.ReLU()) for _ in range(4)]).cuda()
opt = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
for epoch in range(5):
    train_one_epoch(model, opt, AverageMeter())
    evaluate(model, AverageMeter())
