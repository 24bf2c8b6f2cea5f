import torch
import torch.nn as nn
import torch.nn.functional as F

from collections import defaultdict
log = defaultdict(list)

class Engine:
    def __init__(self, net, opt):
        self.net, self.opt = net, opt

    def run(self, n):
        for step in range(n):
            x = torch.randn(1024, 512, device="cuda")
            recon = self.net(x)
            mse = F.mse_loss(recon, x)
            reg = recon.abs().mean()
            loss = mse + 0.1 * reg
            self.opt.zero_grad()
            mse.backward()
            self.opt.step()
            log["total"].append(loss.item())
            log["reg"].append(reg + F.l1_loss(self.net(x), x))

net = nn.Sequential(nn.Linear(512, 1024), nn.GELU(), nn.Linear(1024, 512)).cuda()
Engine(net, torch.optim.Adam(net.parameters())).run(3000)
