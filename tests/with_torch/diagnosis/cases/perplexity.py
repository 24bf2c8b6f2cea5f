import math

import torch
from torch import nn
from torch.nn import functional as F

V, D = 8000, 256


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(V, D)
        layer = nn.TransformerEncoderLayer(D, 4, 4 * D, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(D, V, bias=False)

    def forward(self, input_ids, labels=None):
        logits = self.head(self.enc(self.emb(input_ids)))
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten()), logits


device = "cuda"
model = LM().to(device)
model.eval()
encodings = torch.randint(0, V, (1, 60000))
max_length, stride = 512, 128
nlls = []
for begin_loc in range(0, encodings.size(1), stride):
    end_loc = min(begin_loc + max_length, encodings.size(1))
    input_ids = encodings[:, begin_loc:end_loc].to(device)
    neg_log_likelihood, _ = model(input_ids, labels=input_ids.clone())
    nlls.append(neg_log_likelihood)
ppl = math.exp(torch.stack(nlls).mean())
