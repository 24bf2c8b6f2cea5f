import copy
import torch
from torch import nn
import torch.nn.functional as F


class GRUEncoder(nn.Module):
    def __init__(self, vocab, emb, hidden):
        super().__init__()
        self.embed = nn.Embedding(vocab, emb)
        self.gru = nn.GRU(emb, hidden, bidirectional=True)
        self.fc = nn.Linear(2 * hidden, hidden)

    def forward(self, src):
        out, h = self.gru(self.embed(src))
        h = torch.tanh(self.fc(torch.cat((h[-2], h[-1]), dim=1)))
        return out, h


class BahdanauDecoder(nn.Module):
    def __init__(self, vocab, emb, hidden):
        super().__init__()
        self.embed = nn.Embedding(vocab, emb)
        self.attn = nn.Linear(3 * hidden, hidden)
        self.v = nn.Linear(hidden, 1, bias=False)
        self.cell = nn.GRUCell(2 * hidden + emb, hidden)
        self.out = nn.Linear(3 * hidden + emb, vocab)

    def forward(self, token, h, enc):
        e = self.embed(token)
        T = enc.shape[0]
        rep = h.unsqueeze(1).repeat(1, T, 1)
        enc = enc.permute(1, 0, 2)
        a = F.softmax(self.v(torch.tanh(self.attn(torch.cat((rep, enc), dim=2)))).squeeze(2), dim=1)
        w = torch.bmm(a.unsqueeze(1), enc).squeeze(1)
        h = self.cell(torch.cat((e, w), dim=1), h)
        return self.out(torch.cat((h, w, e), dim=1)), h


enc = GRUEncoder(60, 16, 24).cuda()
dec = BahdanauDecoder(60, 16, 24).cuda()
teacher_enc = copy.deepcopy(enc)
params = list(enc.parameters()) + list(dec.parameters())
opt = torch.optim.Adam(params, lr=1e-3)
crit = nn.CrossEntropyLoss(ignore_index=0)
mark("model")
for step in range(2):
    src = torch.randint(1, 60, (8, 4), device="cuda")
    trg = torch.randint(1, 60, (7, 4), device="cuda")
    memory, h = enc(src)
    with torch.no_grad():
        tm, th = teacher_enc(src)
    outputs = torch.zeros(7, 4, 60, device="cuda")
    token = trg[0]
    for t in range(1, 7):
        logits, h = dec(token, h, memory)
        outputs[t] = logits
        if t % 2 == 0:
            token = trg[t]
        else:
            token = logits.argmax(1)
    loss = crit(outputs[1:].view(-1, 60), trg[1:].view(-1)) + 10.0 * F.mse_loss(memory, tm)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(params, 1)
    opt.step()
    with torch.no_grad():
        for t_p, s_p in zip(teacher_enc.parameters(), enc.parameters()):
            t_p.mul_(0.99).add_(s_p, alpha=0.01)
    mark(f"step {step}")
with torch.no_grad():
    memory, h = enc(src)
    token = torch.full((4,), 1, dtype=torch.long, device="cuda")
    decoded = []
    for t in range(5):
        logits, h = dec(token, h, memory)
        token = logits.topk(1)[1].squeeze(1)
        decoded.append(token)
    result = torch.stack(decoded)
mark("decoded")
