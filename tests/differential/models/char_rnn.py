import torch
from torch import nn
import torch.nn.functional as F

vocab, hidden, layers, batch, bptt = 60, 96, 2, 16, 12


class CharRNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(vocab, hidden)
        self.rnn = nn.LSTM(hidden, hidden, layers, dropout=0.3)
        self.dropout = nn.Dropout(0.3)
        self.head = nn.Linear(hidden, vocab)

    def forward(self, x, state):
        emb = self.dropout(self.embedding(x))
        out, state = self.rnn(emb, state)
        logits = self.head(self.dropout(out))
        return logits, state

    def init_hidden(self, batch_size):
        h = torch.zeros(layers, batch_size, hidden, device="cuda")
        c = torch.zeros(layers, batch_size, hidden, device="cuda")
        return h, c


model = CharRNN().cuda()
optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3, alpha=0.95)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.97)
data = torch.randint(0, vocab, (bptt * 4 + 1, batch), device="cuda")
mark("model")
model.train()
h, c = model.init_hidden(batch)
total = 0.0
for step in range(4):
    start = step * bptt
    x = data[start : start + bptt]
    y = data[start + 1 : start + bptt + 1]
    h = h.detach()
    c = c.detach()
    optimizer.zero_grad()
    logits, (h, c) = model(x, (h, c))
    loss = F.cross_entropy(logits.view(-1, vocab), y.reshape(-1))
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    total += loss.item()
    mark(f"step {step}")
scheduler.step()
model.eval()
text = []
with torch.no_grad():
    h, c = model.init_hidden(1)
    token = torch.zeros(1, 1, dtype=torch.long, device="cuda")
    for i in range(8):
        logits, (h, c) = model(token, (h, c))
        probs = F.softmax(logits[-1] / 0.8, dim=-1)
        token = torch.multinomial(probs, 1)
        text.append(token.item())
mark("sampled")
