import torch
from torch import nn

vocabulary, width = 128_000, 256


class TinyLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width, dtype=torch.bfloat16)
        self.mlp = nn.Linear(width, width, dtype=torch.bfloat16)
        self.lm_head = nn.Linear(width, vocabulary, bias=False, dtype=torch.bfloat16)

    def forward(self, ids):
        hidden = self.mlp(self.embed(ids))
        logits = self.lm_head(hidden)
        return logits.float()


model = TinyLM().cuda()
ids = torch.randint(vocabulary, (2, 2048), device="cuda")
logits = model(ids)
nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten()).backward()
