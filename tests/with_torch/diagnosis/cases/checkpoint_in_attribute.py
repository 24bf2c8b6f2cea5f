import torch
import torch.nn as nn
import torch.nn.functional as F

import os
def save(model, opt, path):
    torch.save({"state_dict": model.state_dict(), "optimizer": opt.state_dict(), "epoch": 3}, path)

def build():
    m = nn.Sequential(*[nn.Linear(1500, 1500) for _ in range(8)])
    return m.cuda()

class Session:
    def __init__(self, path):
        self.checkpoint = torch.load(path)
        self.model = build()
        self.model.load_state_dict(self.checkpoint["state_dict"])
        self.epoch = self.checkpoint["epoch"]

if not os.path.exists("ck2.pt"):
    m = build()
    save(m, torch.optim.SGD(m.parameters(), lr=0.1), "ck2.pt")
    del m
    torch.cuda.empty_cache()
s = Session("ck2.pt")
opt = torch.optim.SGD(s.model.parameters(), lr=0.1)
for i in range(5):
    loss = s.model(torch.randn(128, 1500, device="cuda")).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
