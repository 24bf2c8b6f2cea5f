import torch
from torch import nn
import torch.nn.functional as F


class Quantizer(nn.Module):
    def __init__(self, codes, dim, beta=0.25):
        super().__init__()
        self.codes, self.dim, self.beta = codes, dim, beta
        self.embedding = nn.Embedding(codes, dim)
        self.embedding.weight.data.uniform_(-1.0 / codes, 1.0 / codes)

    def forward(self, z):
        z = z.permute(0, 2, 3, 1).contiguous()
        flat = z.view(-1, self.dim)
        distances = (torch.sum(flat ** 2, dim=1, keepdim=True)
                     + torch.sum(self.embedding.weight ** 2, dim=1)
                     - 2 * torch.matmul(flat, self.embedding.weight.t()))
        indices = torch.argmin(distances, dim=1).unsqueeze(1)
        encodings = torch.zeros(indices.shape[0], self.codes, device=z.device)
        encodings.scatter_(1, indices, 1)
        quantized = torch.matmul(encodings, self.embedding.weight).view(z.shape)
        e_loss = F.mse_loss(quantized.detach(), z)
        q_loss = F.mse_loss(quantized, z.detach())
        loss = q_loss + self.beta * e_loss
        quantized = z + (quantized - z).detach()
        probs = torch.mean(encodings, dim=0)
        perplexity = torch.exp(-torch.sum(probs * torch.log(probs + 1e-10)))
        return quantized.permute(0, 3, 1, 2).contiguous(), loss, perplexity


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.block = nn.Sequential(nn.ReLU(True), nn.Conv2d(channels, channels // 2, 3, padding=1, bias=False),
                                   nn.ReLU(True), nn.Conv2d(channels // 2, channels, 1, bias=False))

    def forward(self, x):
        return x + self.block(x)


class VQVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, 32, 4, stride=2, padding=1), nn.ReLU(),
                                     nn.Conv2d(32, 32, 4, stride=2, padding=1), Residual(32), nn.Conv2d(32, 16, 1))
        self.vq = Quantizer(64, 16)
        self.decoder = nn.Sequential(nn.Conv2d(16, 32, 3, padding=1), Residual(32),
                                     nn.ConvTranspose2d(32, 16, 4, stride=2, padding=1), nn.ReLU(),
                                     nn.ConvTranspose2d(16, 3, 4, stride=2, padding=1))

    def forward(self, x):
        z = self.encoder(x)
        quantized, loss, perplexity = self.vq(z)
        return self.decoder(quantized), loss, perplexity


model = VQVAE().cuda()
opt = torch.optim.Adam(model.parameters(), lr=1e-3, amsgrad=False)
mark("model")
errors = []
for step in range(2):
    data = torch.randn(4, 3, 24, 24, device="cuda")
    opt.zero_grad()
    recon, vq_loss, perplexity = model(data)
    recon_error = F.mse_loss(recon, data) / 0.06
    loss = recon_error + vq_loss
    mark(f"forward {step}")
    loss.backward()
    opt.step()
    errors.append(recon_error.item())
    mark(f"step {step}")
