import torch
from torch import nn


class LanguageModel(nn.Module):
    def __init__(self, vocabulary, size):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, size)
        self.cell = nn.GRUCell(size, size)
        self.head = nn.Linear(size, vocabulary)
        self.hidden = None

    def forward(self, tokens):
        if self.hidden is None:
            self.hidden = torch.zeros(tokens.shape[1], self.cell.hidden_size, device=tokens.device)
        outputs = []
        for token in tokens:
            self.hidden = self.cell(self.embedding(token), self.hidden)
            outputs.append(self.head(self.hidden))
        return torch.stack(outputs)
