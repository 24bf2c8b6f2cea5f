import torch
from torch import nn
import torch.nn.functional as F


class NTM(nn.Module):
    def __init__(self, inputs=8, hidden=64, slots=32, width=16):
        super().__init__()
        self.cell = nn.LSTMCell(inputs + width, hidden)
        self.key = nn.Linear(hidden, width)
        self.beta = nn.Linear(hidden, 1)
        self.gate = nn.Linear(hidden, 1)
        self.shift = nn.Linear(hidden, 3)
        self.gamma = nn.Linear(hidden, 1)
        self.erase = nn.Linear(hidden, width)
        self.add = nn.Linear(hidden, width)
        self.out = nn.Linear(hidden + width, inputs)
        self.slots, self.width, self.hidden = slots, width, hidden

    def address(self, memory, h, before):
        key = torch.tanh(self.key(h)).unsqueeze(1)
        similarity = F.cosine_similarity(memory + 1e-16, key + 1e-16, dim=-1)
        weights = F.softmax(F.softplus(self.beta(h)) * similarity, dim=1)
        g = torch.sigmoid(self.gate(h))
        weights = g * weights + (1 - g) * before
        s = F.softmax(self.shift(h), dim=1)
        padded = torch.cat([weights[:, -1:], weights, weights[:, :1]], dim=1)
        moved = (padded[:, :-2] * s[:, 0:1] + padded[:, 1:-1] * s[:, 1:2] + padded[:, 2:] * s[:, 2:3])
        sharp = moved ** (1 + F.softplus(self.gamma(h)))
        return sharp / (sharp.sum(1, keepdim=True) + 1e-16)

    def forward(self, xs):
        batch = xs.shape[1]
        h = torch.zeros(batch, self.hidden, device=xs.device)
        c = torch.zeros_like(h)
        memory = torch.full((batch, self.slots, self.width), 1e-6, device=xs.device)
        weights = F.one_hot(torch.zeros(batch, dtype=torch.long, device=xs.device), self.slots).float()
        read = torch.zeros(batch, self.width, device=xs.device)
        outs = []
        for x in xs:
            h, c = self.cell(torch.cat([x, read], 1), (h, c))
            weights = self.address(memory, h, weights)
            e = torch.sigmoid(self.erase(h))
            a = torch.tanh(self.add(h))
            memory = memory * (1 - torch.bmm(weights.unsqueeze(2), e.unsqueeze(1))) + torch.einsum("bn,bm->bnm", weights, a)
            read = torch.bmm(weights.unsqueeze(1), memory).squeeze(1)
            outs.append(torch.sigmoid(self.out(torch.cat([h, read], 1))))
        return torch.stack(outs)


model = NTM().cuda()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-4, alpha=0.95, momentum=0.9)
mark("model")
for step in range(2):
    x = torch.bernoulli(torch.full((6, 16, 8), 0.5, device="cuda"))
    y = model(x)
    loss = F.binary_cross_entropy(y, x.flip(0))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), 10)
    optimizer.step()
    mark(f"step {step}")
