import torch
from torch import nn
import torch.nn.functional as F


def causal(n):
    return torch.triu(torch.full((n, n), float("-inf"), device="cuda"), diagonal=1)


class Lm(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.embed = nn.Embedding(128, d)
        layer = nn.TransformerEncoderLayer(d, 4, 2 * d, dropout=0.0, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, n, enable_nested_tensor=False)
        self.head = nn.Linear(d, 128)

    def forward(self, ids):
        return self.head(self.body(self.embed(ids), mask=causal(ids.size(1)), is_causal=True))


big = Lm(128, 3).cuda().eval()
small = Lm(32, 1).cuda().eval()
mark("models")
ids = torch.randint(0, 128, (1, 8), device="cuda")
with torch.no_grad():
    for round in range(3):
        draft = ids
        chosen = []
        for i in range(4):
            p = F.softmax(small(draft)[:, -1], dim=-1)
            token = p.argmax(dim=-1, keepdim=True)
            chosen.append(p.gather(1, token))
            draft = torch.cat([draft, token], dim=1)
        q = F.softmax(big(draft)[:, -5:], dim=-1)
        mark(f"verified {round}")
        new = draft[:, -4:]
        ratio = q[:, :4].gather(2, new.unsqueeze(-1)).squeeze(-1) / torch.cat(chosen, dim=1)
        accept = torch.rand_like(ratio) < ratio.clamp(max=1.0)
        run = accept.float().cumprod(dim=1).sum()
        extra = q[:, -1].argmax(dim=-1, keepdim=True)
        ids = torch.cat([draft[:, :-2], extra], dim=1)
        mark(f"round {round}")
