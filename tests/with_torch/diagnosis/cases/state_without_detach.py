import torch
import torch.nn as nn
import torch.nn.functional as F

class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(1000, 256)
        self.cell = nn.GRUCell(256, 256)
        self.out = nn.Linear(256, 1000)

    def forward(self, ids, h):
        h = self.cell(self.emb(ids), h)
        return self.out(h), h

def run():
    model = LM().cuda()
    opt = torch.optim.Adam(model.parameters())
    h = torch.zeros(1024, 256, device="cuda")
    total = 0.0
    for step in range(5000):
        ids = torch.randint(0, 1000, (1024,), device="cuda")
        logits, h = model(ids, h)
        total += F.cross_entropy(logits, ids).item()

run()
