import torch
from torch import nn
import torch.nn.functional as F


class SpectralConv2d(nn.Module):
    def __init__(self, channels, modes):
        super().__init__()
        self.modes = modes
        scale = 1 / (channels * channels)
        self.low = nn.Parameter(scale * torch.rand(channels, channels, modes, modes, dtype=torch.cfloat, device="cuda"))
        self.high = nn.Parameter(scale * torch.rand(channels, channels, modes, modes, dtype=torch.cfloat, device="cuda"))

    def forward(self, x):
        spectrum = torch.fft.rfft2(x)
        mixed = torch.zeros(x.size(0), x.size(1), x.size(2), x.size(3) // 2 + 1, dtype=torch.cfloat, device=x.device)
        mixed[:, :, :self.modes, :self.modes] = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, :self.modes, :self.modes], self.low)
        mixed[:, :, -self.modes:, :self.modes] = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, -self.modes:, :self.modes], self.high)
        return torch.fft.irfft2(mixed, s=(x.size(2), x.size(3)))


class Block(nn.Module):
    def __init__(self, channels, modes):
        super().__init__()
        self.spectral = SpectralConv2d(channels, modes)
        self.bypass = nn.Conv2d(channels, channels, 1, device="cuda")

    def forward(self, x):
        return F.gelu(self.spectral(x) + self.bypass(x))


class FNO(nn.Module):
    def __init__(self, channels, modes, depth):
        super().__init__()
        self.lift = nn.Conv2d(3, channels, 1, device="cuda")
        self.blocks = nn.ModuleList([Block(channels, modes) for _ in range(depth)])
        self.project = nn.Conv2d(channels, 1, 1, device="cuda")

    def forward(self, x):
        x = self.lift(x)
        for block in self.blocks:
            x = block(x)
        return self.project(x)


model = FNO(16, 6, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(2):
    x = torch.randn(4, 3, 32, 32, device="cuda")
    y = torch.randn(4, 1, 32, 32, device="cuda")
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
