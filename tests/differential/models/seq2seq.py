import torch
from torch import nn
import torch.nn.functional as F

vocab, hidden, length, batch = 200, 64, 7, 8


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(vocab, hidden)
        self.gru = nn.GRU(hidden, hidden, batch_first=True)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        output, h = self.gru(self.dropout(self.embedding(x)))
        return output, h


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.Wa = nn.Linear(hidden, hidden)
        self.Ua = nn.Linear(hidden, hidden)
        self.Va = nn.Linear(hidden, 1)

    def forward(self, query, keys):
        scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys)))
        scores = scores.squeeze(2).unsqueeze(1)
        weights = F.softmax(scores, dim=-1)
        context = torch.bmm(weights, keys)
        return context, weights


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(vocab, hidden)
        self.attention = Attention()
        self.gru = nn.GRU(2 * hidden, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)
        self.dropout = nn.Dropout(0.1)

    def forward(self, keys, h, target):
        x = torch.zeros(batch, 1, dtype=torch.long, device="cuda")
        outputs = []
        attentions = []
        for t in range(length):
            embedded = self.dropout(self.embedding(x))
            query = h.permute(1, 0, 2)
            context, weights = self.attention(query, keys)
            output, h = self.gru(torch.cat((embedded, context), dim=2), h)
            output = self.out(output)
            outputs.append(output)
            attentions.append(weights)
            if target is not None:
                x = target[:, t].unsqueeze(1)
            else:
                x = output.topk(1)[1].squeeze(-1).detach()
        outputs = torch.cat(outputs, dim=1)
        attentions = torch.cat(attentions, dim=1)
        return F.log_softmax(outputs, dim=-1), h, attentions


encoder = Encoder().cuda()
decoder = Decoder().cuda()
enc_opt = torch.optim.Adam(encoder.parameters(), lr=1e-3)
dec_opt = torch.optim.Adam(decoder.parameters(), lr=1e-3)
criterion = nn.NLLLoss()
mark("models")
for step in range(2):
    source = torch.randint(0, vocab, (batch, length), device="cuda")
    target = torch.randint(0, vocab, (batch, length), device="cuda")
    enc_opt.zero_grad()
    dec_opt.zero_grad()
    keys, h = encoder(source)
    logp, h, _ = decoder(keys, h, target if step == 0 else None)
    loss = criterion(logp.view(-1, vocab), target.view(-1))
    mark(f"forward {step}")
    loss.backward()
    enc_opt.step()
    dec_opt.step()
    mark(f"step {step}")
