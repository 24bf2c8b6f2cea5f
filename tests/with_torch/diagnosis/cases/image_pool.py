import random

import torch
from torch import nn


class ImagePool:
    def __init__(self, pool_size):
        self.pool_size = pool_size
        self.images = []

    def query(self, images):
        returned = []
        for image in images:
            self.images.append(image.unsqueeze(0))
            returned.append(random.choice(self.images) if len(self.images) > 2 else self.images[-1])
        return torch.cat(returned)


G = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 3, 3, padding=1)).cuda()
D = nn.Sequential(nn.Conv2d(3, 16, 4, stride=2), nn.LeakyReLU(), nn.Conv2d(16, 1, 4)).cuda()
opt_g, opt_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
pool = ImagePool(50)
for i in range(250):
    real = torch.rand(4, 3, 128, 128, device="cuda")
    fake = G(real)
    opt_g.zero_grad()
    (1 - D(fake)).pow(2).mean().backward()
    opt_g.step()
    opt_d.zero_grad()
    old = pool.query(fake.detach())
    (D(old).pow(2).mean() + (1 - D(real)).pow(2).mean()).backward()
    opt_d.step()
