import torch
from torch import nn
import torch.nn.functional as F

vocab, hidden, layers, batch, bptt = 500, 64, 2, 8, 12


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.2)
        self.encoder = nn.Embedding(vocab, hidden)
        self.rnn = nn.LSTM(hidden, hidden, layers, dropout=0.2)
        self.decoder = nn.Linear(hidden, vocab)
        self.decoder.weight = self.encoder.weight

    def forward(self, x, h, c):
        emb = self.drop(self.encoder(x))
        out, (h, c) = self.rnn(emb, (h, c))
        out = self.drop(out)
        return self.decoder(out.view(-1, hidden)), h, c


model = LanguageModel().cuda()
opt = torch.optim.SGD(model.parameters(), lr=20.0)
corpus = torch.randint(0, vocab, (4 * bptt + 1, batch), device="cuda")
h = torch.zeros(layers, batch, hidden, device="cuda")
c = torch.zeros(layers, batch, hidden, device="cuda")
mark("corpus")
total = 0.0
for step in range(3):
    data = corpus[step * bptt:(step + 1) * bptt]
    targets = corpus[step * bptt + 1:(step + 1) * bptt + 1].reshape(-1)
    model.zero_grad()
    h = h.detach()
    c = c.detach()
    output, h, c = model(data, h, c)
    loss = F.cross_entropy(output, targets)
    mark(f"forward {step}")
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    opt.step()
    total += loss.item()
    mark(f"step {step}")
model.eval()
with torch.no_grad():
    token = torch.randint(0, vocab, (1, 1), device="cuda")
    h = torch.zeros(layers, 1, hidden, device="cuda")
    c = torch.zeros(layers, 1, hidden, device="cuda")
    for i in range(4):
        output, h, c = model(token, h, c)
        token = output.argmax(dim=-1, keepdim=True)
mark("generated")
