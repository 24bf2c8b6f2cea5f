import torch
from torch import nn
import torch.nn.functional as F


class LocationAttention(nn.Module):
    def __init__(self, query, memory, width):
        super().__init__()
        self.q = nn.Linear(query, width, bias=False)
        self.m = nn.Linear(memory, width, bias=False)
        self.v = nn.Linear(width, 1, bias=False)
        self.conv = nn.Conv1d(2, 8, 31, padding=15, bias=False)
        self.dense = nn.Linear(8, width, bias=False)

    def forward(self, query, memory, keys, weights, mask):
        location = self.dense(self.conv(weights).transpose(1, 2))
        energy = self.v(torch.tanh(self.q(query.unsqueeze(1)) + location + keys)).squeeze(-1)
        energy.data.masked_fill_(mask, -1e9)
        alignment = F.softmax(energy, dim=1)
        return torch.bmm(alignment.unsqueeze(1), memory).squeeze(1), alignment


class Prenet(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(a, b, bias=False) for a, b in zip(sizes[:-1], sizes[1:])])

    def forward(self, x):
        for layer in self.layers:
            x = F.dropout(F.relu(layer(x)), p=0.5, training=True)
        return x


class Tacotron(nn.Module):
    def __init__(self, symbols=40, width=32, mels=20):
        super().__init__()
        self.embedding = nn.Embedding(symbols, width)
        self.convs = nn.ModuleList([nn.Sequential(nn.Conv1d(width, width, 5, padding=2), nn.BatchNorm1d(width)) for _ in range(2)])
        self.lstm = nn.LSTM(width, width // 2, 1, batch_first=True, bidirectional=True)
        self.prenet = Prenet([mels, 32, 32])
        self.attention_cell = nn.LSTMCell(32 + width, 64)
        self.attention = LocationAttention(64, width, 32)
        self.decoder_cell = nn.LSTMCell(64 + width, 64)
        self.project = nn.Linear(64 + width, mels)
        self.gate = nn.Linear(64 + width, 1)
        self.postnet = nn.Sequential(nn.Conv1d(mels, 32, 5, padding=2), nn.BatchNorm1d(32), nn.Tanh(), nn.Dropout(0.5), nn.Conv1d(32, mels, 5, padding=2), nn.BatchNorm1d(mels))
        self.mels = mels

    def forward(self, text, lengths, mel):
        x = self.embedding(text).transpose(1, 2)
        for conv in self.convs:
            x = F.dropout(F.relu(conv(x)), 0.5, self.training)
        memory, _ = self.lstm(x.transpose(1, 2))
        mask = torch.arange(text.size(1), device=text.device)[None] >= lengths[:, None]
        keys = self.attention.m(memory)
        b = text.size(0)
        ah = memory.new_zeros(b, 64)
        ac = memory.new_zeros(b, 64)
        dh = memory.new_zeros(b, 64)
        dc = memory.new_zeros(b, 64)
        w = memory.new_zeros(b, text.size(1))
        total = torch.zeros_like(w)
        context = memory.new_zeros(b, memory.size(2))
        frames = torch.cat([mel.new_zeros(1, b, self.mels), mel.permute(2, 0, 1)[:-1]])
        frames = self.prenet(frames)
        outs, gates = [], []
        for frame in frames:
            ah, ac = self.attention_cell(torch.cat((frame, context), -1), (ah, ac))
            ah = F.dropout(ah, 0.1, self.training)
            context, w = self.attention(ah, memory, keys, torch.cat((w.unsqueeze(1), total.unsqueeze(1)), dim=1), mask)
            total += w
            dh, dc = self.decoder_cell(torch.cat((ah, context), -1), (dh, dc))
            both = torch.cat((dh, context), dim=1)
            outs.append(self.project(both))
            gates.append(self.gate(both).squeeze(1))
        out = torch.stack(outs).permute(1, 2, 0).contiguous()
        return out, out + self.postnet(out), torch.stack(gates, 1)


model = Tacotron().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-6)
mark("model")
for step in range(2):
    text = torch.randint(0, 40, (4, 12), device="cuda")
    lengths = torch.tensor([12, 10, 8, 5], device="cuda")
    mel = torch.randn(4, 20, 6, device="cuda")
    target = torch.zeros(4, 6, device="cuda")
    target[:, -1] = 1
    out, post, gate = model(text, lengths, mel)
    loss = F.mse_loss(out, mel) + F.mse_loss(post, mel) + F.binary_cross_entropy_with_logits(gate, target)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    mark(f"step {step}")
