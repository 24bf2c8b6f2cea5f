import torch
from torch import nn
import torch.nn.functional as F


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 16, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
            nn.Flatten())
        self.mu = nn.Linear(32 * 7 * 7, 12)
        self.logvar = nn.Linear(32 * 7 * 7, 12)
        self.fc = nn.Linear(12, 32 * 7 * 7)
        self.decoder = nn.Sequential(
            nn.ReLU(), nn.Unflatten(1, (32, 7, 7)),
            nn.ConvTranspose2d(32, 16, 3, stride=2, padding=1, output_padding=1), nn.ReLU(),
            nn.ConvTranspose2d(16, 1, 3, stride=2, padding=1, output_padding=1))

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def forward(self, x):
        h = self.encoder(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = self.reparameterize(mu, logvar)
        return torch.sigmoid(self.decoder(self.fc(z))), mu, logvar


def loss_function(recon, x, mu, logvar):
    bce = F.binary_cross_entropy(recon, x, reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce + kld


model = VAE().cuda()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
total = 0
mark("model")
for step in range(3):
    data = torch.rand(16, 1, 28, 28).cuda()
    opt.zero_grad()
    recon, mu, logvar = model(data)
    loss = loss_function(recon, data, mu, logvar)
    mark(f"forward {step}")
    loss.backward()
    total += loss.item()
    opt.step()
    mark(f"step {step}")
model.eval()
with torch.no_grad():
    recon, mu, logvar = model(data)
    comparison = torch.cat([data[:8], recon.view(16, 1, 28, 28)[:8]])
    sample = torch.sigmoid(model.decoder(model.fc(torch.randn(4, 12).cuda()))).cpu()
mark("eval")
