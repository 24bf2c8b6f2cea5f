import torch
from torch import nn
import torch.nn.functional as F
from torch.nn.utils import spectral_norm

torch.backends.cudnn.enabled = True


class GenBlock(nn.Module):
    def __init__(self, cin, cout, classes):
        super().__init__()
        self.bn1 = nn.BatchNorm2d(cin, affine=False)
        self.gamma = nn.Embedding(classes, cin)
        self.beta = nn.Embedding(classes, cin)
        self.conv1 = nn.Conv2d(cin, cout, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, padding=1)
        self.skip = nn.Conv2d(cin, cout, 1)

    def forward(self, x, y):
        h = self.bn1(x)
        h = h * self.gamma(y)[:, :, None, None] + self.beta(y)[:, :, None, None]
        h = F.interpolate(F.relu(h), scale_factor=2)
        h = self.conv1(h)
        h = self.conv2(F.relu(self.bn2(h)))
        return h + self.skip(F.interpolate(x, scale_factor=2))


class Generator(nn.Module):
    def __init__(self, z_dim=64, ch=32, classes=10):
        super().__init__()
        self.ch = ch
        self.fc = nn.Linear(z_dim, ch * 4 * 4)
        self.block1 = GenBlock(ch, ch, classes)
        self.block2 = GenBlock(ch, ch, classes)
        self.bn = nn.BatchNorm2d(ch)
        self.out = nn.Conv2d(ch, 3, 3, padding=1)

    def forward(self, z, y):
        h = self.fc(z).view(-1, self.ch, 4, 4)
        h = self.block1(h, y)
        h = self.block2(h, y)
        return torch.tanh(self.out(F.relu(self.bn(h))))


class DiscBlock(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.conv1 = spectral_norm(nn.Conv2d(cin, cout, 3, padding=1))
        self.conv2 = spectral_norm(nn.Conv2d(cout, cout, 3, padding=1))
        self.skip = spectral_norm(nn.Conv2d(cin, cout, 1))

    def forward(self, x):
        h = self.conv2(F.relu(self.conv1(F.relu(x))))
        return F.avg_pool2d(h, 2) + F.avg_pool2d(self.skip(x), 2)


class Discriminator(nn.Module):
    def __init__(self, ch=32, classes=10):
        super().__init__()
        self.block1 = DiscBlock(3, ch)
        self.block2 = DiscBlock(ch, ch)
        self.fc = spectral_norm(nn.Linear(ch, 1))
        self.embed = spectral_norm(nn.Embedding(classes, ch))

    def forward(self, x, y):
        h = self.block2(self.block1(x))
        h = F.relu(h).sum(dim=(2, 3))
        out = self.fc(h)
        out += torch.sum(self.embed(y) * h, dim=1, keepdim=True)
        return out


G = Generator().cuda()
D = Discriminator().cuda()
opt_g = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.0, 0.9))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.0, 0.9))
mark("models")
for step in range(2):
    for _ in range(2):
        real = torch.randn(8, 3, 16, 16, device="cuda")
        y = torch.randint(0, 10, (8,), device="cuda")
        z = torch.randn(8, 64, device="cuda")
        with torch.no_grad():
            fake = G(z, y)
        d_real = D(real, y)
        d_fake = D(fake, y)
        loss_d = F.relu(1.0 - d_real).mean() + F.relu(1.0 + d_fake).mean()
        D.zero_grad()
        loss_d.backward()
        opt_d.step()
    mark(f"discriminator {step}")
    z = torch.randn(8, 64, device="cuda")
    y = torch.randint(0, 10, (8,), device="cuda")
    loss_g = -D(G(z, y), y).mean()
    G.zero_grad()
    loss_g.backward()
    opt_g.step()
    mark(f"generator {step}")
