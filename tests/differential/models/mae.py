import torch
from torch import nn
import torch.nn.functional as F


class MAE(nn.Module):
    def __init__(self, patches=16, patch_dim=48, dim=48, decoder_dim=32):
        super().__init__()
        self.embed = nn.Linear(patch_dim, dim)
        self.pos = nn.Parameter(torch.zeros(1, patches, dim), requires_grad=False)
        self.encoder = nn.TransformerEncoderLayer(dim, 4, 96, dropout=0.0, batch_first=True, norm_first=True)
        self.to_decoder = nn.Linear(dim, decoder_dim)
        self.mask_token = nn.Parameter(torch.zeros(1, 1, decoder_dim))
        self.decoder_pos = nn.Parameter(torch.zeros(1, patches, decoder_dim), requires_grad=False)
        self.decoder = nn.TransformerEncoderLayer(decoder_dim, 4, 64, dropout=0.0, batch_first=True, norm_first=True)
        self.pred = nn.Linear(decoder_dim, patch_dim)
        nn.init.trunc_normal_(self.mask_token, std=0.02)

    def patchify(self, images):
        N = images.shape[0]
        x = images.reshape(N, 3, 4, 4, 4, 4)
        x = torch.einsum("nchpwq->nhwpqc", x)
        return x.reshape(N, 16, 48)

    def forward(self, images, ratio=0.75):
        target = self.patchify(images)
        x = self.embed(target) + self.pos
        N, L, D = x.shape
        keep = int(L * (1 - ratio))
        noise = torch.rand(N, L, device=x.device)
        shuffle = torch.argsort(noise, dim=1)
        restore = torch.argsort(shuffle, dim=1)
        kept = shuffle[:, :keep]
        x = torch.gather(x, dim=1, index=kept.unsqueeze(-1).repeat(1, 1, D))
        mask = torch.ones([N, L], device=x.device)
        mask[:, :keep] = 0
        mask = torch.gather(mask, dim=1, index=restore)
        x = self.to_decoder(self.encoder(x))
        tokens = self.mask_token.repeat(N, L - keep, 1)
        x = torch.cat([x, tokens], dim=1)
        x = torch.gather(x, dim=1, index=restore.unsqueeze(-1).repeat(1, 1, x.shape[2]))
        x = self.pred(self.decoder(x + self.decoder_pos))
        loss = (x - target) ** 2
        loss = loss.mean(dim=-1)
        return (loss * mask).sum() / mask.sum()


model = MAE().cuda()
opt = torch.optim.AdamW(model.parameters(), lr=1.5e-4, betas=(0.9, 0.95), weight_decay=0.05)
mark("model")
for step in range(2):
    images = torch.randn(8, 3, 16, 16, device="cuda")
    loss = model(images)
    mark(f"forward {step}")
    opt.zero_grad()
    loss.backward()
    opt.step()
    mark(f"step {step}")
