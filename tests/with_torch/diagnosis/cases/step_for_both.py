import torch
import torch.nn as nn
import torch.nn.functional as F

class Runner:
    def __init__(self):
        self.net = nn.Sequential(*[nn.Sequential(nn.Linear(512, 512), nn.ReLU()) for _ in range(8)], nn.Linear(512, 10)).cuda()
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def step(self, batch, train):
        x, y = batch
        logits = self.net(x)
        loss = F.cross_entropy(logits, y)
        if train:
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
        return loss.item()

    def loop(self, n, size, train):
        self.net.train(train)
        for i in range(n):
            x = torch.randn(size, 512, device="cuda")
            y = torch.randint(0, 10, (size,), device="cuda")
            self.step((x, y), train)

r = Runner()
for epoch in range(2):
    r.loop(8, 1024, True)
    r.loop(4, 8192, False)
