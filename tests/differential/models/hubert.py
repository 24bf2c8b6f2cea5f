import torch
from torch import nn
import torch.nn.functional as F


class Frontend(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(64))
        self.register_buffer("fb", torch.rand(33, 20))

    def forward(self, wav):
        spec = torch.stft(wav, n_fft=64, hop_length=32, window=self.window, return_complex=True)
        power = spec.abs().pow(2)
        mel = torch.matmul(power.transpose(1, 2), self.fb)
        return torch.log(mel.clamp(min=1e-5))


class SpecAugment(nn.Module):
    def forward(self, x):
        if not self.training:
            return x
        t = torch.arange(x.size(1), device=x.device)
        starts = torch.randint(0, x.size(1) - 5, (x.size(0), 1), device=x.device)
        mask = (t >= starts) & (t < starts + 5)
        return x.masked_fill(mask.unsqueeze(-1), 0.0)


class Hubert(nn.Module):
    def __init__(self, d=32, clusters=15):
        super().__init__()
        self.frontend = Frontend()
        self.augment = SpecAugment()
        self.proj = nn.Linear(20, d)
        self.norm = nn.LayerNorm(d)
        self.mask_emb = nn.Parameter(torch.rand(d))
        self.rnn = nn.GRU(d, d // 2, 2, batch_first=True, bidirectional=True, dropout=0.1)
        self.layers = nn.ModuleList([nn.TransformerEncoderLayer(d, 4, 2 * d, 0.1, batch_first=True) for _ in range(2)])
        self.final = nn.Linear(d, 16)
        self.label_embs = nn.Parameter(torch.rand(clusters, 16))
        self.layerdrop = 0.0

    def forward(self, wav, mask, targets):
        x = self.augment(self.frontend(wav))
        x = self.norm(self.proj(x))
        x = torch.where(mask.unsqueeze(-1), self.mask_emb.to(x.dtype), x)
        x, _ = self.rnn(x)
        for layer in self.layers:
            x = layer(x)
        proj = self.final(x)
        logits = torch.cosine_similarity(proj.unsqueeze(2).float(), self.label_embs.view(1, 1, 15, 16).float(), dim=-1) / 0.1
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")
        weight = mask.flatten().float()
        masked = (loss * weight).sum() / weight.sum().clamp(min=1.0)
        unmasked = (loss * (1 - weight)).sum() / (1 - weight).sum().clamp(min=1.0)
        return masked + 0.1 * unmasked, logits


model = Hubert().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, amsgrad=True)
scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, 1.0, 10)
mark("model")
for step in range(3):
    wav = torch.randn(3, 640, device="cuda")
    mask = torch.rand(3, 21, device="cuda") < 0.5
    targets = torch.randint(0, 15, (3, 21), device="cuda")
    loss, logits = model(wav, mask, targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    mark(f"step {step}")
model.eval()
with torch.no_grad():
    _, logits = model(wav, mask, targets)
    best = logits.argmax(-1)
    shifted = torch.cat([best[:, :1], best[:, 1:]], dim=1)
    changed = (shifted[:, 1:] != shifted[:, :-1]).sum(1)
mark("eval")
