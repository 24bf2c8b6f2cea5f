import torch
import torch.nn as nn


class CrossValidation:
    def __init__(self, k):
        self.k = k
        self.runs = {}

    def make(self):
        net = nn.Sequential(nn.Linear(768, 3072), nn.GELU(), nn.Linear(3072, 768)).cuda()
        return net, torch.optim.AdamW(net.parameters(), lr=3e-4)

    def train_fold(self, fold):
        net, opt = self.make()
        for _ in range(6):
            x = torch.randn(64, 768, device="cuda")
            opt.zero_grad(set_to_none=True)
            (net(x) - x).pow(2).mean().backward()
            opt.step()
        self.runs[f"fold{fold}"] = dict(net=net, opt=opt, score=0.0)

    def run(self):
        for fold in range(self.k):
            self.train_fold(fold)


CrossValidation(60).run()
