import math
import torch
from torch import nn
import torch.nn.functional as F


def timestep_embedding(t, dim):
    half = dim // 2
    freqs = torch.exp(-math.log(10000) * torch.arange(half, dtype=torch.float32, device=t.device) / half)
    args = t[:, None].float() * freqs[None, :]
    return torch.cat([torch.cos(args), torch.sin(args)], dim=-1)


class ResBlock(nn.Module):
    def __init__(self, inputs, outputs, emb):
        super().__init__()
        self.norm1 = nn.GroupNorm(8, inputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.emb = nn.Linear(emb, outputs)
        self.norm2 = nn.GroupNorm(8, outputs)
        self.drop = nn.Dropout(0.1)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x, emb):
        h = self.conv1(F.silu(self.norm1(x)))
        h = h + self.emb(F.silu(emb))[:, :, None, None]
        h = self.conv2(self.drop(F.silu(self.norm2(h))))
        return h + self.skip(x)


class AttentionBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.GroupNorm(8, channels)
        self.qkv = nn.Conv1d(channels, 3 * channels, 1)
        self.proj = nn.Conv1d(channels, channels, 1)

    def forward(self, x):
        B, C, H, W = x.shape
        h = self.norm(x).view(B, C, H * W)
        q, k, v = self.qkv(h).chunk(3, dim=1)
        w = torch.einsum("bct,bcs->bts", q * C ** -0.25, k * C ** -0.25).softmax(dim=-1)
        h = torch.einsum("bts,bcs->bct", w, v)
        return x + self.proj(h).view(B, C, H, W)


class Denoiser(nn.Module):
    def __init__(self, ch=16):
        super().__init__()
        self.ch = ch
        self.time = nn.Sequential(nn.Linear(ch, 4 * ch), nn.SiLU(), nn.Linear(4 * ch, 4 * ch))
        self.conv_in = nn.Conv2d(3, ch, 3, padding=1)
        self.res1 = ResBlock(ch, ch, 4 * ch)
        self.down = nn.Conv2d(ch, ch, 3, stride=2, padding=1)
        self.res2 = ResBlock(ch, 2 * ch, 4 * ch)
        self.attn = AttentionBlock(2 * ch)
        self.res3 = ResBlock(2 * ch, 2 * ch, 4 * ch)
        self.up = nn.Conv2d(2 * ch, 2 * ch, 3, padding=1)
        self.res4 = ResBlock(3 * ch, ch, 4 * ch)
        self.norm = nn.GroupNorm(8, ch)
        self.conv_out = nn.Conv2d(ch, 3, 3, padding=1)

    def forward(self, x, t):
        emb = self.time(timestep_embedding(t, self.ch))
        h = self.conv_in(x)
        skip = self.res1(h, emb)
        h = self.res2(self.down(skip), emb)
        h = self.attn(h)
        h = self.res3(h, emb)
        h = self.up(F.interpolate(h, scale_factor=2, mode="nearest"))
        h = self.res4(torch.cat([h, skip], dim=1), emb)
        return self.conv_out(F.silu(self.norm(h)))


T = 100
betas = torch.linspace(1e-4, 0.02, T, device="cuda")
alphas = 1.0 - betas
alpha_bar = torch.cumprod(alphas, dim=0)
sqrt_ab = alpha_bar.sqrt()
sqrt_omab = (1.0 - alpha_bar).sqrt()
model = Denoiser().cuda()
ema = Denoiser().cuda()
ema.load_state_dict(model.state_dict())
ema.requires_grad_(False)
opt = torch.optim.AdamW(model.parameters(), lr=2e-4)
mark("models")
for step in range(2):
    x0 = torch.randn(4, 3, 16, 16, device="cuda")
    t = torch.randint(0, T, (4,), device="cuda")
    noise = torch.randn_like(x0)
    xt = sqrt_ab[t].view(-1, 1, 1, 1) * x0 + sqrt_omab[t].view(-1, 1, 1, 1) * noise
    loss = F.mse_loss(model(xt, t), noise)
    mark(f"forward {step}")
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    with torch.no_grad():
        for e, p in zip(ema.parameters(), model.parameters()):
            e.lerp_(p, 0.001)
    mark(f"step {step}")
with torch.no_grad():
    x = torch.randn(2, 3, 16, 16, device="cuda")
    for i in reversed(range(2)):
        t = torch.full((2,), i, dtype=torch.long, device="cuda")
        eps = ema(x, t)
        x = (x - betas[i] / sqrt_omab[i] * eps) / alphas[i].sqrt()
        if i > 0:
            x = x + betas[i].sqrt() * torch.randn_like(x)
    x = x.clamp(-1, 1)
mark("sampled")
