import torch
from torch.nn import functional as F

SIZE = 128


def synthetic(count, batch, device):
    for _ in range(count):
        image = torch.rand(batch, 3, SIZE, SIZE)
        target = torch.randint(0, 21, (batch, SIZE, SIZE))
        yield image.to(device), target.to(device)


def train_one_epoch(model, optimizer, device, epoch, batch):
    model.train()
    for image, target in synthetic(5, batch, device):
        output = model(image)
        loss = F.cross_entropy(output, target, ignore_index=255)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class ConfusionMatrix:
    def __init__(self, num_classes):
        self.num_classes, self.mat = num_classes, None

    def update(self, a, b):
        n = self.num_classes
        if self.mat is None:
            self.mat = torch.zeros((n, n), dtype=torch.int64, device=a.device)
        k = (a >= 0) & (a < n)
        inds = n * a.to(torch.int64) + b
        self.mat += torch.bincount((inds * k).clamp(0, n * n - 1), minlength=n * n).reshape(n, n)

    def compute(self):
        h = self.mat.float()
        return torch.diag(h).sum() / h.sum()


def evaluate(model, device, num_classes, batch):
    model.eval()
    confmat = ConfusionMatrix(num_classes)
    for image, target in synthetic(5, batch, device):
        output = model(image)
        confmat.update(target.flatten(), output.argmax(1).flatten())
    return confmat.compute().item()
