import torch
from torch import nn


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5000, 256)
        self.lstm = nn.LSTM(256, 256, batch_first=True)
        self.head = nn.Linear(256, 5000)

    def forward(self, tokens, state):
        out, state = self.lstm(self.embed(tokens), state)
        return self.head(out), state


def evaluate(model, chunks):
    state = None
    total = 0.0
    for tokens in chunks:
        logits, state = model(tokens, state)
        total += nn.functional.cross_entropy(logits.flatten(0, 1), tokens.flatten()).item()
    return total


model = LanguageModel().cuda()
chunks = [torch.randint(0, 5000, (16, 32), device="cuda") for _ in range(120)]
print(evaluate(model, chunks))
