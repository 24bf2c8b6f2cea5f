import torch
from torch import nn

latent, size = 16, 16


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(latent, 32 * 4 * 4)
        self.net = nn.Sequential(
            nn.BatchNorm2d(32), nn.Upsample(scale_factor=2), nn.Conv2d(32, 16, 3, padding=1), nn.BatchNorm2d(16),
            nn.ReLU(), nn.Upsample(scale_factor=2), nn.Conv2d(16, 3, 3, padding=1), nn.Tanh())

    def forward(self, z):
        return self.net(self.fc(z).view(-1, 32, 4, 4))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, 16, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(16, 32, 4, 2, 1), nn.LeakyReLU(0.2),
            nn.Flatten(), nn.Linear(32 * 4 * 4, 1))

    def forward(self, x):
        return self.net(x)


def gradient_penalty(critic, real, fake):
    alpha = torch.rand(real.size(0), 1, 1, 1, device="cuda")
    mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    scores = critic(mixed)
    gradients = torch.autograd.grad(outputs=scores, inputs=mixed, grad_outputs=torch.ones_like(scores),
                                    create_graph=True, retain_graph=True)[0]
    gradients = gradients.view(gradients.size(0), -1)
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


G = Generator().cuda()
D = Critic().cuda()
opt_g = torch.optim.Adam(G.parameters(), lr=1e-4, betas=(0.0, 0.9))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-4, betas=(0.0, 0.9))
mark("models")
for step in range(2):
    real = torch.randn(8, 3, size, size, device="cuda")
    z = torch.randn(8, latent, device="cuda")
    fake = G(z).detach()
    opt_d.zero_grad()
    gp = gradient_penalty(D, real, fake)
    mark(f"penalty {step}")
    loss_d = D(fake).mean() - D(real).mean() + 10.0 * gp
    loss_d.backward()
    opt_d.step()
    mark(f"critic {step}")
    opt_g.zero_grad()
    loss_g = -D(G(z)).mean()
    loss_g.backward()
    opt_g.step()
    mark(f"generator {step}")
