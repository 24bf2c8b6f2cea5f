import math
import torch
from torch import nn
import torch.nn.functional as F


class TextEncoder(nn.Module):
    def __init__(self, vocab=100, width=32, length=12):
        super().__init__()
        self.token = nn.Embedding(vocab, width)
        self.pos = nn.Parameter(torch.empty(length, width).normal_(std=0.01))
        layer = nn.TransformerEncoderLayer(width, 4, dim_feedforward=64, dropout=0.0, activation="gelu",
                                           batch_first=True, norm_first=True)
        self.transformer = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.ln = nn.LayerNorm(width)
        self.register_buffer("mask", torch.full((length, length), float("-inf")).triu(1))

    def forward(self, ids):
        x = self.token(ids) + self.pos
        x = self.transformer(x, mask=self.mask)
        x = self.ln(x)
        return x[torch.arange(x.shape[0], device=x.device), ids.argmax(dim=-1)]


class ImageEncoder(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 4, stride=4), nn.GELU(), nn.Conv2d(16, width, 2, stride=2), nn.GELU())
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        x = self.stem(x)
        x = x.mean(dim=[-2, -1])
        return self.norm(x)


class CLIP(nn.Module):
    def __init__(self):
        super().__init__()
        self.visual = ImageEncoder()
        self.text = TextEncoder()
        self.image_proj = nn.Linear(32, 24, bias=False)
        self.text_proj = nn.Parameter(torch.randn(32, 24) * 0.1)
        self.logit_scale = nn.Parameter(torch.ones([]) * math.log(1 / 0.07))

    def forward(self, images, ids):
        i = self.image_proj(self.visual(images))
        t = self.text(ids) @ self.text_proj
        i = i / i.norm(dim=1, keepdim=True)
        t = t / t.norm(dim=1, keepdim=True)
        scale = self.logit_scale.exp()
        per_image = scale * i @ t.t()
        return per_image, per_image.t()


model = CLIP().cuda()
opt = torch.optim.AdamW(model.parameters(), lr=5e-4, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.2)
mark("model")
for step in range(2):
    images = torch.randn(8, 3, 32, 32, device="cuda")
    ids = torch.randint(0, 100, (8, 12), device="cuda")
    per_image, per_text = model(images, ids)
    truth = torch.arange(8, device="cuda")
    loss = (F.cross_entropy(per_image, truth) + F.cross_entropy(per_text, truth)) / 2
    mark(f"forward {step}")
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        model.logit_scale.clamp_(0, math.log(100))
    mark(f"step {step}")
