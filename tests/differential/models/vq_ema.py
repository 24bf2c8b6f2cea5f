import torch
from torch import nn
import torch.nn.functional as F


class VectorQuantizerEMA(nn.Module):
    def __init__(self, num, dim, commitment=0.25, decay=0.99, eps=1e-5):
        super().__init__()
        self.num = num
        self.dim = dim
        self.embedding = nn.Embedding(num, dim)
        self.embedding.weight.data.normal_()
        self.commitment = commitment
        self.register_buffer("cluster_size", torch.zeros(num))
        self.ema_w = nn.Parameter(torch.empty(num, dim))
        self.ema_w.data.normal_()
        self.decay = decay
        self.eps = eps

    def forward(self, inputs):
        inputs = inputs.permute(0, 2, 3, 1).contiguous()
        shape = inputs.shape
        flat = inputs.view(-1, self.dim)
        distances = torch.sum(flat ** 2, dim=1, keepdim=True) + torch.sum(self.embedding.weight ** 2, dim=1) - 2 * torch.matmul(flat, self.embedding.weight.t())
        indices = torch.argmin(distances, dim=1).unsqueeze(1)
        encodings = torch.zeros(indices.shape[0], self.num, device=inputs.device)
        encodings.scatter_(1, indices, 1)
        quantized = torch.matmul(encodings, self.embedding.weight).view(shape)
        if self.training:
            self.cluster_size = self.cluster_size * self.decay + (1 - self.decay) * torch.sum(encodings, 0)
            n = torch.sum(self.cluster_size.data)
            self.cluster_size = (self.cluster_size + self.eps) / (n + self.num * self.eps) * n
            dw = torch.matmul(encodings.t(), flat)
            self.ema_w = nn.Parameter(self.ema_w * self.decay + (1 - self.decay) * dw)
            self.embedding.weight = nn.Parameter(self.ema_w / self.cluster_size.unsqueeze(1))
        e_loss = F.mse_loss(quantized.detach(), inputs)
        loss = self.commitment * e_loss
        quantized = inputs + (quantized - inputs).detach()
        avg = torch.mean(encodings, dim=0)
        perplexity = torch.exp(-torch.sum(avg * torch.log(avg + 1e-10)))
        return loss, quantized.permute(0, 3, 1, 2).contiguous(), perplexity


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.block = nn.Sequential(nn.ReLU(True), nn.Conv2d(channels, 16, 3, padding=1, bias=False), nn.ReLU(True), nn.Conv2d(16, channels, 1, bias=False))

    def forward(self, x):
        return x + self.block(x)


class VQVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, 32, 4, stride=2, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1), Residual(32))
        self.pre = nn.Conv2d(32, 24, 1)
        self.vq = VectorQuantizerEMA(64, 24)
        self.decoder = nn.Sequential(nn.Conv2d(24, 32, 3, padding=1), Residual(32), nn.ConvTranspose2d(32, 3, 4, stride=2, padding=1))

    def forward(self, x):
        z = self.pre(self.encoder(x))
        loss, quantized, perplexity = self.vq(z)
        return loss, self.decoder(quantized), perplexity


model = VQVAE().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, amsgrad=False)
errors = []
mark("model")
for step in range(3):
    x = torch.rand(6, 3, 16, 16, device="cuda")
    optimizer.zero_grad()
    vq_loss, rec, perplexity = model(x)
    rec_error = F.mse_loss(rec, x) / 0.06
    loss = rec_error + vq_loss
    mark(f"forward {step}")
    loss.backward()
    optimizer.step()
    errors.append(rec_error.item())
    mark(f"step {step}")
