import math
import torch
from torch import nn
import torch.nn.functional as F


class EqualLinear(nn.Module):
    def __init__(self, i, o, bias=0.0, lr_mul=1.0):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(o, i).div_(lr_mul))
        self.bias = nn.Parameter(torch.zeros(o).fill_(bias))
        self.scale = (1 / math.sqrt(i)) * lr_mul
        self.lr_mul = lr_mul

    def forward(self, x):
        return F.linear(x, self.weight * self.scale, bias=self.bias * self.lr_mul)


class ModulatedConv2d(nn.Module):
    def __init__(self, i, o, kernel, style, upsample=False, demodulate=True):
        super().__init__()
        self.i, self.o, self.kernel = i, o, kernel
        self.upsample, self.demodulate = upsample, demodulate
        self.scale = 1 / math.sqrt(i * kernel ** 2)
        self.weight = nn.Parameter(torch.randn(1, o, i, kernel, kernel))
        self.modulation = EqualLinear(style, i, bias=1.0)

    def forward(self, x, style):
        batch, c, height, width = x.shape
        style = self.modulation(style).view(batch, 1, c, 1, 1)
        weight = self.scale * self.weight * style
        if self.demodulate:
            demod = torch.rsqrt(weight.pow(2).sum([2, 3, 4]) + 1e-8)
            weight = weight * demod.view(batch, self.o, 1, 1, 1)
        weight = weight.view(batch * self.o, c, self.kernel, self.kernel)
        if self.upsample:
            x = x.view(1, batch * c, height, width)
            weight = weight.view(batch, self.o, c, self.kernel, self.kernel)
            weight = weight.transpose(1, 2).reshape(batch * c, self.o, self.kernel, self.kernel)
            out = F.conv_transpose2d(x, weight, padding=0, stride=2, groups=batch)
            out = out[:, :, :-1, :-1]
        else:
            x = x.view(1, batch * c, height, width)
            out = F.conv2d(x, weight, padding=self.kernel // 2, groups=batch)
        return out.reshape(batch, self.o, out.shape[2], out.shape[3])


class StyledConv(nn.Module):
    def __init__(self, i, o, style, upsample=False):
        super().__init__()
        self.conv = ModulatedConv2d(i, o, 3, style, upsample=upsample)
        self.noise = nn.Parameter(torch.zeros(1))
        self.bias = nn.Parameter(torch.zeros(1, o, 1, 1))

    def forward(self, x, style):
        out = self.conv(x, style)
        batch, _, height, width = out.shape
        out = out + self.noise * out.new_empty(batch, 1, height, width).normal_()
        return F.leaky_relu(out + self.bias, negative_slope=0.2) * math.sqrt(2)


class Generator(nn.Module):
    def __init__(self, style):
        super().__init__()
        self.mapping = nn.Sequential(EqualLinear(style, style, lr_mul=0.01), nn.LeakyReLU(0.2), EqualLinear(style, style, lr_mul=0.01), nn.LeakyReLU(0.2))
        self.input = nn.Parameter(torch.randn(1, 16, 4, 4))
        self.conv1 = StyledConv(16, 16, style)
        self.conv2 = StyledConv(16, 16, style, upsample=True)
        self.conv3 = StyledConv(16, 8, style)
        self.to_rgb = ModulatedConv2d(8, 3, 1, style, demodulate=False)

    def forward(self, z):
        z = z * torch.rsqrt(torch.mean(z ** 2, dim=1, keepdim=True) + 1e-8)
        w = self.mapping(z)
        out = self.input.repeat(z.shape[0], 1, 1, 1)
        out = self.conv3(self.conv2(self.conv1(out, w), w), w)
        return self.to_rgb(out, w), w


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.Sequential(nn.Conv2d(3, 16, 1), nn.LeakyReLU(0.2), nn.Conv2d(16, 16, 3, 2, 1), nn.LeakyReLU(0.2))
        self.final_conv = nn.Conv2d(17, 16, 3, padding=1)
        self.final = nn.Linear(16 * 16, 1)

    def forward(self, x):
        out = self.convs(x)
        batch, channel, height, width = out.shape
        group = min(batch, 4)
        stddev = out.view(group, -1, 1, channel, height, width)
        stddev = torch.sqrt(stddev.var(0, unbiased=False) + 1e-8)
        stddev = stddev.mean([2, 3, 4], keepdim=True).squeeze(2)
        stddev = stddev.repeat(group, 1, height, width)
        out = self.final_conv(torch.cat([out, stddev], 1))
        return self.final(out.view(batch, -1))


g = Generator(24).cuda()
d = Discriminator().cuda()
g_ema = Generator(24).cuda()
g_ema.load_state_dict(g.state_dict())
g_optim = torch.optim.Adam(g.parameters(), lr=0.002, betas=(0.0, 0.99))
d_optim = torch.optim.Adam(d.parameters(), lr=0.002, betas=(0.0, 0.99))
mean_path = torch.zeros((), device="cuda")
mark("model")
for step in range(2):
    real = torch.randn(4, 3, 8, 8, device="cuda")
    fake, _ = g(torch.randn(4, 24, device="cuda"))
    d_loss = F.softplus(-d(real)).mean() + F.softplus(d(fake.detach())).mean()
    d.zero_grad()
    d_loss.backward()
    d_optim.step()
    mark(f"d {step}")
    real.requires_grad = True
    real_pred = d(real)
    grad_real = torch.autograd.grad(real_pred.sum(), [real], create_graph=True)[0]
    r1 = grad_real.pow(2).reshape(grad_real.shape[0], -1).sum(1).mean()
    d.zero_grad()
    (5.0 * r1 + 0 * real_pred[0]).backward()
    d_optim.step()
    mark(f"r1 {step}")
    fake, w = g(torch.randn(4, 24, device="cuda"))
    g_loss = F.softplus(-d(fake)).mean()
    g.zero_grad()
    g_loss.backward()
    g_optim.step()
    with torch.no_grad():
        for p_ema, p in zip(g_ema.parameters(), g.parameters()):
            p_ema.mul_(0.99).add_(p, alpha=0.01)
    mark(f"g {step}")
