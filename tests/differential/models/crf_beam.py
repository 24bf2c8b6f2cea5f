import torch
from torch import nn
import torch.nn.functional as F

vocab, tags, dim, batch, length = 90, 7, 40, 5, 8


class CRF(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.conv = nn.Conv1d(dim, dim, 3, padding=1)
        self.fc = nn.Linear(dim, tags)
        self.transitions = nn.Parameter(torch.randn(tags, tags))
        self.start = nn.Parameter(torch.zeros(tags))
        self.stop = nn.Parameter(torch.zeros(tags))

    def emissions(self, x):
        h = self.emb(x).transpose(1, 2)
        h = F.relu(self.conv(h)).transpose(1, 2)
        return self.fc(h)

    def log_partition(self, emit, mask):
        alpha = self.start + emit[:, 0]
        for t in range(1, emit.size(1)):
            scores = alpha.unsqueeze(2) + self.transitions + emit[:, t].unsqueeze(1)
            new = torch.logsumexp(scores, dim=1)
            alpha = torch.where(mask[:, t].unsqueeze(1), new, alpha)
        return torch.logsumexp(alpha + self.stop, dim=1)

    def score(self, emit, y, mask):
        total = self.start[y[:, 0]] + emit[:, 0].gather(1, y[:, :1]).squeeze(1)
        m = mask.float()
        for t in range(1, emit.size(1)):
            step = self.transitions[y[:, t - 1], y[:, t]] + emit[:, t].gather(1, y[:, t].unsqueeze(1)).squeeze(1)
            total = total + step * m[:, t]
        last = mask.long().sum(1) - 1
        return total + self.stop[y.gather(1, last.unsqueeze(1)).squeeze(1)]

    def decode(self, emit):
        score = self.start + emit[:, 0]
        history = []
        for t in range(1, emit.size(1)):
            best, idx = (score.unsqueeze(2) + self.transitions).max(dim=1)
            score = best + emit[:, t]
            history.append(idx)
        score = score + self.stop
        tag = score.argmax(dim=1, keepdim=True)
        path = [tag]
        for t in range(len(history) - 1, -1, -1):
            tag = history[t].gather(1, tag)
            path.append(tag)
        return torch.cat(path, dim=1).flip(1)


model = CRF().cuda()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
mark("model")
for step in range(2):
    x = torch.randint(0, vocab, (batch, length), device="cuda")
    y = torch.randint(0, tags, (batch, length), device="cuda")
    lengths = torch.randint(3, length + 1, (batch,), device="cuda")
    mask = torch.arange(length, device="cuda").unsqueeze(0) < lengths.unsqueeze(1)
    emit = model.emissions(x)
    loss = (model.log_partition(emit, mask) - model.score(emit, y, mask)).mean()
    mark(f"forward {step}")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mark(f"step {step}")
with torch.no_grad():
    path = model.decode(model.emissions(x))
    acc = (path == y).float().mean().item()
mark("decoded")
cell = nn.GRUCell(dim, dim).cuda()
head = nn.Linear(dim, vocab).cuda()
beam = 3
with torch.no_grad():
    h = torch.randn(batch * beam, dim, device="cuda")
    tokens = torch.zeros(batch * beam, 1, dtype=torch.long, device="cuda")
    scores = torch.zeros(batch, beam, device="cuda")
    scores[:, 1:] = -1e9
    offset = (torch.arange(batch, device="cuda") * beam).unsqueeze(1)
    for t in range(4):
        h = cell(model.emb(tokens[:, -1]), h)
        logp = F.log_softmax(head(h), dim=-1).view(batch, beam, vocab)
        total = (scores.unsqueeze(2) + logp).view(batch, -1)
        scores, idx = total.topk(beam, dim=1)
        origin = torch.div(idx, vocab, rounding_mode="floor")
        token = idx % vocab
        rows = (origin + offset).view(-1)
        tokens = torch.cat([tokens[rows], token.view(-1, 1)], dim=1)
        h = h.index_select(0, rows)
        mark(f"beam {t}")
