import torch
from torch import nn


class CharModel(nn.Module):
    def __init__(self, vocabulary=96, width=512):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.cell = nn.GRUCell(width, width)
        self.decoder = nn.Linear(width, vocabulary)

    def forward(self, token, hidden):
        hidden = self.cell(self.embedding(token), hidden)
        return self.decoder(hidden), hidden


def train(model, optimizer, text, epochs):
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        hidden = torch.zeros(256, 512, device="cuda")
        losses = []
        for t in range(text.shape[1] - 1):
            logits, hidden = model(text[:, t], hidden)
            losses.append(criterion(logits, text[:, t + 1]))
        loss = torch.stack(losses).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


model = CharModel().cuda()
text = torch.zeros(256, 1500, dtype=torch.long, device="cuda")
train(model, torch.optim.Adam(model.parameters()), text, epochs=3)
