import torch
from torch import nn
import torch.nn.functional as F


class Quantizer(nn.Module):
    def __init__(self, dim, groups, entries, out):
        super().__init__()
        self.groups, self.entries = groups, entries
        self.vars = nn.Parameter(torch.empty(1, groups * entries, out // groups))
        nn.init.uniform_(self.vars)
        self.weight_proj = nn.Linear(dim, groups * entries)
        nn.init.normal_(self.weight_proj.weight, mean=0, std=1)
        nn.init.zeros_(self.weight_proj.bias)

    def forward(self, x):
        bsz, tsz, fsz = x.shape
        x = self.weight_proj(x.reshape(-1, fsz)).view(bsz * tsz * self.groups, -1)
        avg = torch.softmax(x.view(bsz * tsz, self.groups, -1).float(), dim=-1).mean(dim=0)
        ppl = torch.exp(-torch.sum(avg * torch.log(avg + 1e-7), dim=-1)).sum()
        x = F.gumbel_softmax(x.float(), tau=2.0, hard=True).type_as(x)
        x = x.view(bsz * tsz, -1)
        x = x.unsqueeze(-1) * self.vars
        x = x.view(bsz * tsz, self.groups, self.entries, -1).sum(-2)
        return x.view(bsz, tsz, -1), ppl


class Wav2Vec(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(1, 32, 10, stride=5, bias=False), nn.GroupNorm(32, 32), nn.GELU(),
            nn.Conv1d(32, 32, 3, stride=2, bias=False), nn.GELU(),
            nn.Conv1d(32, 32, 2, stride=2, bias=False), nn.GELU())
        self.norm = nn.LayerNorm(32)
        self.proj = nn.Linear(32, 48)
        self.mask_emb = nn.Parameter(torch.empty(48).uniform_())
        self.pos_conv = nn.Conv1d(48, 48, 8, padding=4, groups=4)
        self.pos_conv = nn.utils.weight_norm(self.pos_conv, name="weight", dim=2)
        layer = nn.TransformerEncoderLayer(48, 4, 96, dropout=0.1, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.quantizer = Quantizer(32, 2, 10, 24)
        self.project_q = nn.Linear(24, 24)
        self.final_proj = nn.Linear(48, 24)

    def forward(self, wav, mask, negatives_idx):
        features = self.conv(wav.unsqueeze(1)).transpose(1, 2)
        pen = features.float().pow(2).mean()
        features = self.norm(features)
        unmasked = features.clone()
        x = F.dropout(self.proj(features), 0.1)
        x = torch.where(mask.unsqueeze(-1), self.mask_emb, x)
        pos = self.pos_conv(x.transpose(1, 2))[:, :, :-1]
        x = x + F.gelu(pos).transpose(1, 2)
        x = self.encoder(x)
        y, ppl = self.quantizer(unmasked)
        y = self.project_q(y)
        B, T, C = y.shape
        negs = y.view(-1, C)[negatives_idx.view(-1)].view(B, T, 6, C).permute(2, 0, 1, 3)
        x = self.final_proj(x)
        targets = torch.cat([y.unsqueeze(0), negs], dim=0)
        logits = torch.cosine_similarity(x.float(), targets.float(), dim=-1) / 0.1
        return logits, ppl, pen


model = Wav2Vec().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-4, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.01)
mark("model")
for step in range(3):
    wav = torch.randn(3, 800, device="cuda")
    mask = torch.rand(3, 39, device="cuda") < 0.4
    negatives = torch.randint(0, 3 * 39, (3, 39 * 6), device="cuda")
    logits, ppl, pen = model(wav, mask, negatives)
    logits = logits.transpose(0, 2).reshape(-1, logits.size(0))
    loss = F.cross_entropy(logits, torch.zeros(logits.size(0), dtype=torch.long, device="cuda"), reduction="sum")
    loss = loss + 0.1 * (20 - ppl) / 20 + 10 * pen
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mark(f"step {step}")
