import torch
from torch import nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim, heads, size):
        super().__init__()
        self.num_heads = heads
        self.scale = (dim // heads) ** -0.5
        self.qkv = nn.Linear(dim, dim * 3, bias=True)
        self.proj = nn.Linear(dim, dim)
        self.rel_pos_h = nn.Parameter(torch.zeros(2 * size - 1, dim // heads))
        self.rel_pos_w = nn.Parameter(torch.zeros(2 * size - 1, dim // heads))

    def get_rel_pos(self, size, rel_pos):
        q = torch.arange(size, device=rel_pos.device)[:, None]
        k = torch.arange(size, device=rel_pos.device)[None, :]
        relative = (q - k) + (size - 1)
        return rel_pos[relative.long()]

    def forward(self, x):
        B, H, W, D = x.shape
        qkv = self.qkv(x).reshape(B, H * W, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.reshape(3, B * self.num_heads, H * W, -1).unbind(0)
        attn = (q * self.scale) @ k.transpose(-2, -1)
        Rh = self.get_rel_pos(H, self.rel_pos_h)
        Rw = self.get_rel_pos(W, self.rel_pos_w)
        r_q = q.reshape(B * self.num_heads, H, W, -1)
        rel_h = torch.einsum("bhwc,hkc->bhwk", r_q, Rh)
        rel_w = torch.einsum("bhwc,wkc->bhwk", r_q, Rw)
        attn = (attn.view(-1, H, W, H, W) + rel_h[:, :, :, :, None] + rel_w[:, :, :, None, :]).view(-1, H * W, H * W)
        attn = attn.softmax(dim=-1)
        x = (attn @ v).view(B, self.num_heads, H, W, -1).permute(0, 2, 3, 1, 4).reshape(B, H, W, -1)
        return self.proj(x)


def window_partition(x, window):
    B, H, W, C = x.shape
    pad_h = (window - H % window) % window
    pad_w = (window - W % window) % window
    if pad_h > 0 or pad_w > 0:
        x = F.pad(x, (0, 0, 0, pad_w, 0, pad_h))
    Hp, Wp = H + pad_h, W + pad_w
    x = x.view(B, Hp // window, window, Wp // window, window, C)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, window, window, C), Hp, Wp


def window_unpartition(windows, window, Hp, Wp, H, W):
    B = windows.shape[0] // (Hp * Wp // window // window)
    x = windows.view(B, Hp // window, Wp // window, window, window, -1)
    x = x.permute(0, 1, 3, 2, 4, 5).contiguous().view(B, Hp, Wp, -1)
    if Hp > H or Wp > W:
        x = x[:, :H, :W, :].contiguous()
    return x


class Block(nn.Module):
    def __init__(self, dim, heads, window, size):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attn = Attention(dim, heads, size if window == 0 else window)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
        self.window_size = window

    def forward(self, x):
        shortcut = x
        x = self.norm1(x)
        if self.window_size > 0:
            H, W = x.shape[1], x.shape[2]
            x, Hp, Wp = window_partition(x, self.window_size)
        x = self.attn(x)
        if self.window_size > 0:
            x = window_unpartition(x, self.window_size, Hp, Wp, H, W)
        x = shortcut + x
        return x + self.mlp(self.norm2(x))


class LayerNorm2d(nn.Module):
    def __init__(self, channels, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))
        self.eps = eps

    def forward(self, x):
        u = x.mean(1, keepdim=True)
        s = (x - u).pow(2).mean(1, keepdim=True)
        x = (x - u) / torch.sqrt(s + self.eps)
        return self.weight[:, None, None] * x + self.bias[:, None, None]


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch_embed = nn.Conv2d(3, 32, 4, 4)
        self.pos_embed = nn.Parameter(torch.zeros(1, 10, 10, 32))
        self.blocks = nn.ModuleList([Block(32, 4, 4, 10), Block(32, 4, 0, 10)])
        self.neck = nn.Sequential(nn.Conv2d(32, 16, 1, bias=False), LayerNorm2d(16), nn.Conv2d(16, 16, 3, padding=1, bias=False), LayerNorm2d(16))

    def forward(self, x):
        x = self.patch_embed(x).permute(0, 2, 3, 1)
        x = x + self.pos_embed
        for blk in self.blocks:
            x = blk(x)
        return self.neck(x.permute(0, 3, 1, 2))


def dice_loss(inputs, targets):
    inputs = inputs.sigmoid().flatten(1)
    numerator = 2 * (inputs * targets).sum(-1)
    denominator = inputs.sum(-1) + targets.sum(-1)
    return (1 - (numerator + 1) / (denominator + 1)).mean()


def sigmoid_focal_loss(inputs, targets, alpha=0.25, gamma=2):
    prob = inputs.sigmoid()
    ce_loss = F.binary_cross_entropy_with_logits(inputs, targets, reduction="none")
    p_t = prob * targets + (1 - prob) * (1 - targets)
    loss = ce_loss * ((1 - p_t) ** gamma)
    alpha_t = alpha * targets + (1 - alpha) * (1 - targets)
    return (alpha_t * loss).mean()


encoder = Encoder().cuda()
decoder = nn.Sequential(nn.ConvTranspose2d(16, 8, 2, 2), nn.GELU(), nn.ConvTranspose2d(8, 1, 2, 2)).cuda()
optimizer = torch.optim.AdamW([{"params": encoder.parameters(), "lr": 1e-5}, {"params": decoder.parameters()}], lr=1e-4)
mark("model")
for step in range(2):
    image = torch.randn(2, 3, 40, 40, device="cuda")
    mask = (torch.rand(2, 40, 40, device="cuda") > 0.6).float()
    logits = decoder(encoder(image)).squeeze(1)
    loss = 20 * sigmoid_focal_loss(logits, mask) + dice_loss(logits, mask.flatten(1))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    mark(f"step {step}")
