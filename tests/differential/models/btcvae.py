import math
import torch
from torch import nn
import torch.nn.functional as F


class VAE(nn.Module):
    def __init__(self, z=6):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, 16, 4, 2, 1), nn.ReLU(), nn.Conv2d(16, 16, 4, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 64, 64), nn.ReLU(), nn.Linear(64, 2 * z))
        self.decoder = nn.Sequential(nn.Linear(z, 64), nn.ReLU(), nn.Linear(64, 16 * 64), nn.ReLU(), nn.Unflatten(1, (16, 8, 8)), nn.ConvTranspose2d(16, 16, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(16, 1, 4, 2, 1))
        self.apply(self.weight_init)

    @staticmethod
    def weight_init(m):
        if isinstance(m, (nn.Linear, nn.Conv2d, nn.ConvTranspose2d)):
            nn.init.xavier_normal_(m.weight)
            nn.init.zeros_(m.bias)

    def forward(self, x):
        mu, logvar = self.encoder(x).chunk(2, dim=1)
        std = torch.exp(0.5 * logvar)
        z = mu + std * torch.randn_like(std)
        return self.decoder(z), mu, logvar, z


def log_density(z, mu, logvar):
    c = math.log(2 * math.pi)
    return -0.5 * (c + logvar + (z - mu) ** 2 * torch.exp(-logvar))


def total_correlation(z, mu, logvar, data=1000):
    b = z.shape[0]
    matrix = log_density(z.unsqueeze(1), mu.unsqueeze(0), logvar.unsqueeze(0))
    weight = torch.full((b, b), 1 / (b - 1), device=z.device)
    weight.view(-1)[:: b + 1] = 1 / data
    weight.view(-1)[1 :: b + 1] = 1 / data
    log_weight = weight.log()
    log_qz = torch.logsumexp(log_weight + matrix.sum(2), dim=1)
    log_product = torch.logsumexp(log_weight.unsqueeze(2) + matrix, dim=1).sum(1)
    log_q = log_density(z, mu, logvar).sum(1)
    log_p = log_density(z, torch.zeros_like(z), torch.zeros_like(z)).sum(1)
    return (log_q - log_qz).mean(), (log_qz - log_product).mean(), (log_product - log_p).mean()


model = VAE().cuda()
discriminator = nn.Sequential(nn.Linear(6, 32), nn.LeakyReLU(0.2, True), nn.Linear(32, 2)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-4)
optimizer_d = torch.optim.Adam(discriminator.parameters(), lr=1e-4, betas=(0.5, 0.9))
mark("models")
for step in range(2):
    x = torch.rand(16, 1, 32, 32, device="cuda")
    out, mu, logvar, z = model(x)
    reconstruction = F.binary_cross_entropy_with_logits(out, x, reduction="sum").div(16)
    mi, tc, kl = total_correlation(z, mu, logvar)
    d = discriminator(z)
    factor = (d[:, :1] - d[:, 1:]).mean()
    loss = reconstruction + mi + 6 * tc + kl + factor
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    with torch.no_grad():
        z2 = model(torch.rand(16, 1, 32, 32, device="cuda"))[3]
        permuted = torch.stack([z2[torch.randperm(16, device="cuda"), i] for i in range(6)], 1)
    d_loss = 0.5 * (F.cross_entropy(discriminator(z.detach()), torch.zeros(16, dtype=torch.long, device="cuda")) + F.cross_entropy(discriminator(permuted), torch.ones(16, dtype=torch.long, device="cuda")))
    optimizer_d.zero_grad()
    d_loss.backward()
    optimizer.step()
    optimizer_d.step()
    mark(f"step {step}")
