import torch
from torch import nn
import torch.nn.functional as F


def window_partition(x, window):
    B, H, W, C = x.shape
    x = x.view(B, H // window, window, W // window, window, C)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, window * window, C)


def window_reverse(windows, window, H, W):
    B = windows.shape[0] // (H * W // window // window)
    x = windows.view(B, H // window, W // window, window, window, -1)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(B, H, W, -1)


class WindowAttention(nn.Module):
    def __init__(self, dim, window, heads):
        super().__init__()
        self.window, self.heads = window, heads
        self.scale = (dim // heads) ** -0.5
        self.table = nn.Parameter(torch.zeros((2 * window - 1) * (2 * window - 1), heads))
        coords = torch.arange(window)
        rows = coords[:, None].expand(window, window).flatten()
        cols = coords[None, :].expand(window, window).flatten()
        index = (rows[:, None] - rows[None, :] + window - 1) * (2 * window - 1) + cols[:, None] - cols[None, :] + window - 1
        self.register_buffer("index", index)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, mask):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        attn = (q * self.scale) @ k.transpose(-2, -1)
        bias = self.table[self.index.view(-1)].view(N, N, -1).permute(2, 0, 1).contiguous()
        attn = attn + bias.unsqueeze(0)
        if mask is not None:
            windows = mask.size(0)
            attn = attn.view(B // windows, windows, self.heads, N, N) + mask.unsqueeze(1).unsqueeze(0)
            attn = attn.view(-1, self.heads, N, N)
        attn = attn.softmax(dim=-1)
        return self.proj((attn @ v).transpose(1, 2).reshape(B, N, C))


class SwinBlock(nn.Module):
    def __init__(self, dim, resolution, heads, window, shift):
        super().__init__()
        self.resolution, self.window, self.shift = resolution, window, shift
        self.norm1 = nn.LayerNorm(dim)
        self.attn = WindowAttention(dim, window, heads)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Dropout(0.1), nn.Linear(4 * dim, dim))
        if shift > 0:
            regions = torch.zeros(1, resolution, resolution, 1)
            regions[:, -window:, :, :] = 1
            regions[:, :, -window:, :] += 2
            masks = window_partition(regions, window).view(-1, window * window)
            mask = masks.unsqueeze(1) - masks.unsqueeze(2)
            mask = mask.masked_fill(mask != 0, -100.0).masked_fill(mask == 0, 0.0)
            self.register_buffer("mask", mask)

    def forward(self, x):
        B, L, C = x.shape
        H = self.resolution
        shortcut = x
        x = self.norm1(x).view(B, H, H, C)
        if self.shift > 0:
            x = torch.roll(x, shifts=(-self.shift, -self.shift), dims=(1, 2))
        windows = window_partition(x, self.window)
        windows = self.attn(windows, self.mask if self.shift > 0 else None)
        x = window_reverse(windows, self.window, H, H)
        if self.shift > 0:
            x = torch.roll(x, shifts=(self.shift, self.shift), dims=(1, 2))
        x = shortcut + x.view(B, L, C)
        return x + self.mlp(self.norm2(x))


class PatchMerging(nn.Module):
    def __init__(self, resolution, dim):
        super().__init__()
        self.resolution = resolution
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = nn.LayerNorm(4 * dim)

    def forward(self, x):
        B, L, C = x.shape
        x = x.view(B, self.resolution, self.resolution, C)
        x0 = x[:, 0::2, 0::2, :]
        x1 = x[:, 1::2, 0::2, :]
        x2 = x[:, 0::2, 1::2, :]
        x3 = x[:, 1::2, 1::2, :]
        x = torch.cat([x0, x1, x2, x3], -1).view(B, -1, 4 * C)
        return self.reduction(self.norm(x))


class Swin(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, 32, 4, stride=4)
        self.norm0 = nn.LayerNorm(32)
        self.stage1 = nn.ModuleList([SwinBlock(32, 8, 2, 4, 0 if i % 2 == 0 else 2) for i in range(2)])
        self.merge = PatchMerging(8, 32)
        self.stage2 = nn.ModuleList([SwinBlock(64, 4, 4, 4, 0) for i in range(1)])
        self.norm = nn.LayerNorm(64)
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = self.norm0(x)
        for block in self.stage1:
            x = block(x)
        x = self.merge(x)
        for block in self.stage2:
            x = block(x)
        x = self.norm(x)
        x = F.adaptive_avg_pool1d(x.transpose(1, 2), 1)
        return self.head(torch.flatten(x, 1))


model = Swin().cuda()
decay = [p for p in model.parameters() if p.ndim > 1]
others = [p for p in model.parameters() if p.ndim <= 1]
opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.05}, {"params": others, "weight_decay": 0.0}], lr=1e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=10)
mark("model")
for step in range(2):
    x = torch.randn(4, 3, 32, 32, device="cuda")
    y = torch.randint(0, 10, (4,), device="cuda")
    out = model(x)
    loss = F.cross_entropy(out, y, label_smoothing=0.1)
    mark(f"forward {step}")
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    opt.step()
    scheduler.step()
    mark(f"step {step}")
