import torch
from torch import nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

vocab, tags, dim, hidden = 120, 9, 48, 56


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim, padding_idx=0)
        self.dropout = nn.Dropout(0.2)
        self.lstm = nn.LSTM(dim, hidden, num_layers=2, batch_first=True, bidirectional=True, dropout=0.2)
        self.fc = nn.Linear(2 * hidden, tags)
        self.cls = nn.Linear(2 * hidden, 2)

    def forward(self, x, lengths):
        emb = self.dropout(self.embedding(x))
        packed = pack_padded_sequence(emb, lengths, batch_first=True, enforce_sorted=False)
        out, (h, c) = self.lstm(packed)
        out, out_lengths = pad_packed_sequence(out, batch_first=True)
        last = torch.cat([h[-2], h[-1]], dim=1)
        return self.fc(self.dropout(out)), self.cls(last)


model = Tagger().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
batches = [[9, 4, 12, 7], [6, 6, 3, 11], [5, 8, 8, 2]]
mark("model")
for step in range(3):
    lengths = batches[step]
    sequences = [torch.randint(1, vocab, (n,)) for n in lengths]
    targets = [torch.randint(0, tags, (n,)) for n in lengths]
    x = pad_sequence(sequences, batch_first=True).cuda()
    y = pad_sequence(targets, batch_first=True, padding_value=-100).cuda()
    z = torch.randint(0, 2, (4,), device="cuda")
    logits, cls = model(x, lengths)
    mark(f"forward {step}")
    loss = F.cross_entropy(logits.view(-1, tags), y.view(-1), ignore_index=-100) + F.cross_entropy(cls, z)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mark(f"step {step}")
model.eval()
with torch.no_grad():
    logits, cls = model(x, lengths)
    pred = logits.argmax(-1)
mark("evaluated")
