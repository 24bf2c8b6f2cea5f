import gc

import torch
from torch import nn

gc.disable()  # pauses of the collector showed up in the profile


class Batch:
    def __init__(self, images):
        self.images = images.cuda()
        self.views = [View(self, k) for k in range(4)]

    def loss(self, net):
        return sum(net(view.pixels()).pow(2).mean() for view in self.views)


class View:
    def __init__(self, batch, turns):
        self.batch, self.turns = batch, turns

    def pixels(self):
        return torch.rot90(self.batch.images, self.turns, (2, 3))


def collate(samples):
    return Batch(torch.stack(samples))


class Images(torch.utils.data.Dataset):
    def __len__(self):
        return 16000

    def __getitem__(self, index):
        return torch.zeros(3, 128, 128)


net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3)).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
loader = torch.utils.data.DataLoader(Images(), batch_size=32, collate_fn=collate)
for epoch in range(4):
    for batch in loader:
        opt.zero_grad()
        batch.loss(net).backward()
        opt.step()
