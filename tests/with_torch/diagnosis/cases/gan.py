import torch
import torch.nn as nn
import torch.nn.functional as F

G = nn.Sequential(nn.Linear(128, 1024), nn.ReLU(), nn.Linear(1024, 784)).cuda()
D = nn.Sequential(nn.Linear(784, 1024), nn.LeakyReLU(0.2), nn.Linear(1024, 1)).cuda()
og = torch.optim.Adam(G.parameters())
od = torch.optim.Adam(D.parameters())
bce = nn.BCEWithLogitsLoss()
for i in range(15):
    real = torch.rand(2048, 784, device="cuda")
    z = torch.randn(2048, 128, device="cuda")
    fake = G(z)
    ld = bce(D(real), torch.ones(2048, 1, device="cuda")) + bce(D(fake.detach()), torch.zeros(2048, 1, device="cuda"))
    od.zero_grad()
    ld.backward()
    od.step()
    lg = bce(D(fake), torch.ones(2048, 1, device="cuda"))
    og.zero_grad()
    lg.backward()
    og.step()
