import torch
import torch.nn as nn
import torch.nn.functional as F

class Module(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(256, 2048), nn.ReLU(), nn.Linear(2048, 10))
        self.validation_step_outputs = []

    def training_step(self, batch):
        x, y = batch
        return F.cross_entropy(self.net(x), y)

    def validation_step(self, batch):
        x, y = batch
        logits = self.net(x)
        self.validation_step_outputs.append({"logits": logits, "loss": F.cross_entropy(logits, y)})

def batches(n, size=2048):
    for _ in range(n):
        yield torch.randn(size, 256, device="cuda"), torch.randint(0, 10, (size,), device="cuda")

def fit(module, epochs):
    opt = torch.optim.Adam(module.parameters())
    for _ in range(epochs):
        module.train()
        for b in batches(10):
            opt.zero_grad()
            module.training_step(b).backward()
            opt.step()
        module.eval()
        for b in batches(10):
            module.validation_step(b)

fit(Module().cuda(), 30)
