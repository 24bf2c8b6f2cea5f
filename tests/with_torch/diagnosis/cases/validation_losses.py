import torch
import torch.nn as nn
import torch.nn.functional as F

from torch.utils.data import DataLoader, TensorDataset
ds = TensorDataset(torch.randn(8192, 256), torch.randint(0, 10, (8192,)))
tr, va = DataLoader(ds, 512), DataLoader(ds, 512)
net = nn.Sequential(nn.Linear(256, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 10)).cuda()
opt = torch.optim.AdamW(net.parameters())
history = {"train": [], "val": []}
for epoch in range(50):
    for x, y in tr:
        loss = F.cross_entropy(net(x.cuda()), y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()
        history["train"].append(loss.item())
    net.eval()
    val = []
    for x, y in va:
        val.append(F.cross_entropy(net(x.cuda()), y.cuda()))
    history["val"].append(torch.stack(val).mean())
    net.train()
