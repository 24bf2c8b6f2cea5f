import torch
from torch import nn
import torch.nn.functional as F

torch.backends.cudnn.enabled = True


class ResStack(nn.Module):
    def __init__(self, channels, dilations):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv1d(channels, channels, 3, dilation=d, padding=d) for d in dilations])

    def forward(self, x):
        for conv in self.convs:
            x = x + conv(F.leaky_relu(x, 0.1))
        return x


class Generator(nn.Module):
    def __init__(self, mels):
        super().__init__()
        self.pre = nn.Conv1d(mels, 48, 7, padding=3)
        self.up1 = nn.ConvTranspose1d(48, 24, 8, stride=4, padding=2)
        self.r1 = ResStack(24, (1, 3))
        self.up2 = nn.ConvTranspose1d(24, 12, 4, stride=2, padding=1)
        self.r2 = ResStack(12, (1, 3, 5))
        self.post = nn.Conv1d(12, 1, 7, padding=3)

    def forward(self, mel):
        x = self.r1(self.up1(F.leaky_relu(self.pre(mel), 0.1)))
        x = self.r2(self.up2(F.leaky_relu(x, 0.1)))
        return torch.tanh(self.post(F.leaky_relu(x)))


class PeriodCritic(nn.Module):
    def __init__(self, period):
        super().__init__()
        self.period = period
        self.c1 = nn.Conv2d(1, 8, (5, 1), (3, 1), padding=(2, 0))
        self.c2 = nn.Conv2d(8, 16, (5, 1), (3, 1), padding=(2, 0))
        self.post = nn.Conv2d(16, 1, (3, 1), 1, padding=(1, 0))

    def forward(self, x):
        b, c, t = x.shape
        missing = -t % self.period
        if missing > 0:
            x = F.pad(x, (0, missing), "reflect")
        x = x.view(b, c, (t + missing) // self.period, self.period)
        f1 = F.leaky_relu(self.c1(x), 0.1)
        f2 = F.leaky_relu(self.c2(f1), 0.1)
        return self.post(f2).flatten(1), f1, f2


G = Generator(20).cuda()
critics = nn.ModuleList([PeriodCritic(p) for p in (2, 3, 5)]).cuda()
g_opt = torch.optim.AdamW(G.parameters(), 2e-4, betas=(0.8, 0.99))
d_opt = torch.optim.AdamW(critics.parameters(), 2e-4, betas=(0.8, 0.99))
mark("models")
for step in range(2):
    mel = torch.randn(3, 20, 17, device="cuda")
    real = torch.rand(3, 1, 136, device="cuda") * 2 - 1
    fake = G(mel)
    d_loss = 0
    for critic in critics:
        r, _, _ = critic(real)
        f, _, _ = critic(fake.detach())
        d_loss = d_loss + ((1 - r) ** 2).mean() + (f ** 2).mean()
    d_opt.zero_grad()
    d_loss.backward()
    d_opt.step()
    mark(f"critics {step}")
    adv, fm = 0, 0
    for critic in critics:
        with torch.no_grad():
            r, r1, r2 = critic(real)
        f, f1, f2 = critic(fake)
        adv = adv + ((1 - f) ** 2).mean()
        fm = fm + F.l1_loss(f1, r1) + F.l1_loss(f2, r2)
    energy = F.l1_loss(F.avg_pool1d(fake.abs(), 8, 4), F.avg_pool1d(real.abs(), 8, 4))
    g_loss = adv + 2 * fm + 45 * energy
    g_opt.zero_grad()
    g_loss.backward()
    g_opt.step()
    mark(f"generator {step}")
