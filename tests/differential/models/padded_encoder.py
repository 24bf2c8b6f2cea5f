import torch
from torch import nn
import torch.nn.functional as F

vocab, dim, classes = 150, 64, 3


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=0)
        self.pos = nn.Parameter(torch.zeros(1, 32, dim))
        layer = nn.TransformerEncoderLayer(dim, 4, 128, dropout=0.1, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.pool = nn.MultiheadAttention(dim, 4, batch_first=True)
        self.query = nn.Parameter(torch.randn(1, 1, dim))
        self.fc = nn.Linear(dim, classes)

    def forward(self, x, pad):
        h = self.emb(x) + self.pos[:, : x.size(1)]
        h = self.encoder(h, src_key_padding_mask=pad)
        q = self.query.expand(x.size(0), -1, -1)
        pooled, weights = self.pool(q, h, h, key_padding_mask=pad)
        return self.fc(pooled.squeeze(1)), weights


model = Classifier().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
lengths = torch.tensor([12, 9, 7, 10], device="cuda")
mark("model")
for step in range(2):
    x = torch.randint(1, vocab, (4, 12), device="cuda")
    pad = torch.arange(12, device="cuda")[None, :] >= lengths[:, None]
    x = x.masked_fill(pad, 0)
    y = torch.randint(0, classes, (4,), device="cuda")
    logits, weights = model(x, pad)
    mark(f"forward {step}")
    loss = F.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mark(f"step {step}")
model.eval()
logits, weights = model(x, pad)
probs = logits.detach().softmax(-1)
entropy = -(weights * (weights + 1e-9).log()).sum(-1).mean()
mark("evaluated")
