import torch
from torch import nn
import torch.nn.functional as F


class DLRM(nn.Module):
    def __init__(self, dim=16, sizes=(100, 200, 50)):
        super().__init__()
        self.bottom = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, dim), nn.ReLU())
        self.tables = nn.ModuleList([nn.EmbeddingBag(n, dim, mode="sum") for n in sizes])
        self.top = nn.Sequential(nn.Linear(dim + 6, 32), nn.ReLU(), nn.Linear(32, 1), nn.Sigmoid())

    def interact(self, x, ly):
        batch, d = x.shape
        T = torch.cat([x] + ly, dim=1).view(batch, -1, d)
        Z = torch.bmm(T, torch.transpose(T, 1, 2))
        li = torch.tensor([1, 2, 2, 3, 3, 3], device=x.device)
        lj = torch.tensor([0, 0, 1, 0, 1, 2], device=x.device)
        flat = Z[:, li, lj]
        return torch.cat([x, flat], dim=1)

    def forward(self, dense, sparse):
        x = self.bottom(dense)
        ly = []
        for i, table in enumerate(self.tables):
            ly.append(table(sparse[i]))
        return self.top(self.interact(x, ly)).squeeze(1)


model = DLRM().cuda()
opt = torch.optim.Adagrad(model.parameters(), lr=0.01)
loss_fn = nn.BCELoss(reduction="mean")
mark("model")
for step in range(2):
    dense = torch.rand(16, 13, device="cuda")
    sparse = [torch.randint(0, n, (16, 3), device="cuda") for n in (100, 200, 50)]
    label = torch.randint(0, 2, (16,), device="cuda").float()
    out = model(dense, sparse)
    loss = loss_fn(out, label)
    mark(f"forward {step}")
    opt.zero_grad()
    loss.backward()
    opt.step()
    mark(f"step {step}")
