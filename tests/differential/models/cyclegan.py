import itertools
import random
import torch
from torch import nn
import torch.nn.functional as F


class ResBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.block = nn.Sequential(
            nn.ReflectionPad2d(1),
            nn.Conv2d(channels, channels, 3),
            nn.InstanceNorm2d(channels),
            nn.ReLU(inplace=True),
            nn.ReflectionPad2d(1),
            nn.Conv2d(channels, channels, 3),
            nn.InstanceNorm2d(channels),
        )

    def forward(self, x):
        return x + self.block(x)


class Generator(nn.Module):
    def __init__(self, ngf=16):
        super().__init__()
        self.model = nn.Sequential(
            nn.ReflectionPad2d(3),
            nn.Conv2d(3, ngf, 7),
            nn.InstanceNorm2d(ngf),
            nn.ReLU(inplace=True),
            nn.Conv2d(ngf, ngf * 2, 3, stride=2, padding=1),
            nn.InstanceNorm2d(ngf * 2),
            nn.ReLU(inplace=True),
            ResBlock(ngf * 2),
            ResBlock(ngf * 2),
            nn.ConvTranspose2d(ngf * 2, ngf, 3, stride=2, padding=1, output_padding=1),
            nn.InstanceNorm2d(ngf),
            nn.ReLU(inplace=True),
            nn.ReflectionPad2d(3),
            nn.Conv2d(ngf, 3, 7),
            nn.Tanh(),
        )

    def forward(self, x):
        return self.model(x)


class Discriminator(nn.Module):
    def __init__(self, ndf=16):
        super().__init__()
        self.model = nn.Sequential(
            nn.Conv2d(3, ndf, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf, ndf * 2, 4, stride=2, padding=1),
            nn.InstanceNorm2d(ndf * 2),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf * 2, 1, 4, padding=1),
        )

    def forward(self, x):
        return self.model(x)


def init_weights(m):
    if isinstance(m, nn.Conv2d):
        nn.init.normal_(m.weight, 0.0, 0.02)
        nn.init.constant_(m.bias, 0.0)


g_ab = Generator().cuda()
g_ba = Generator().cuda()
d_a = Discriminator().cuda()
d_b = Discriminator().cuda()
g_ab.apply(init_weights)
g_ba.apply(init_weights)
opt_g = torch.optim.Adam(itertools.chain(g_ab.parameters(), g_ba.parameters()), lr=2e-4, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(itertools.chain(d_a.parameters(), d_b.parameters()), lr=2e-4, betas=(0.5, 0.999))
pool_a = []
pool_b = []
mark("models")


def query(pool, images, step):
    out = []
    for i in range(images.size(0)):
        image = images[i].unsqueeze(0)
        if len(pool) < 3:
            pool.append(image)
            out.append(image)
        elif (i + step) % 2 == 0:
            tmp = pool[1].clone()
            pool[1] = image
            out.append(tmp)
        else:
            out.append(image)
    return torch.cat(out, 0)


for step in range(3):
    real_a = torch.randn(2, 3, 32, 32, device="cuda")
    real_b = torch.randn(2, 3, 32, 32, device="cuda")
    for p in itertools.chain(d_a.parameters(), d_b.parameters()):
        p.requires_grad = False
    opt_g.zero_grad()
    fake_b = g_ab(real_a)
    rec_a = g_ba(fake_b)
    fake_a = g_ba(real_b)
    rec_b = g_ab(fake_a)
    idt_a = g_ba(real_a)
    idt_b = g_ab(real_b)
    pred_a = d_a(fake_a)
    pred_b = d_b(fake_b)
    gan_loss = F.mse_loss(pred_a, torch.ones_like(pred_a)) + F.mse_loss(pred_b, torch.ones_like(pred_b))
    cycle_loss = F.l1_loss(rec_a, real_a) + F.l1_loss(rec_b, real_b)
    idt_loss = F.l1_loss(idt_a, real_a) + F.l1_loss(idt_b, real_b)
    loss_g = gan_loss + 10.0 * cycle_loss + 5.0 * idt_loss
    mark(f"forward {step}")
    loss_g.backward()
    opt_g.step()
    mark(f"generators {step}")
    for p in itertools.chain(d_a.parameters(), d_b.parameters()):
        p.requires_grad = True
    opt_d.zero_grad()
    old_a = query(pool_a, fake_a.detach(), step)
    real_pred = d_a(real_a)
    fake_pred = d_a(old_a)
    loss_d_a = 0.5 * (F.mse_loss(real_pred, torch.ones_like(real_pred)) + F.mse_loss(fake_pred, torch.zeros_like(fake_pred)))
    loss_d_a.backward()
    old_b = query(pool_b, fake_b.detach(), step)
    real_pred = d_b(real_b)
    fake_pred = d_b(old_b)
    loss_d_b = 0.5 * (F.mse_loss(real_pred, torch.ones_like(real_pred)) + F.mse_loss(fake_pred, torch.zeros_like(fake_pred)))
    loss_d_b.backward()
    opt_d.step()
    mark(f"discriminators {step}")
