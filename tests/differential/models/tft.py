import torch
from torch import nn
import torch.nn.functional as F


class GRN(nn.Module):
    def __init__(self, inputs, hidden, outputs=None, context=None):
        super().__init__()
        outputs = outputs or inputs
        self.fc1 = nn.Linear(inputs, hidden)
        self.context = nn.Linear(context, hidden, bias=False) if context else None
        self.fc2 = nn.Linear(hidden, outputs)
        self.gate = nn.Linear(outputs, 2 * outputs)
        self.norm = nn.LayerNorm(outputs)
        self.skip = nn.Linear(inputs, outputs) if inputs != outputs else nn.Identity()
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, c=None):
        h = self.fc1(x)
        if c is not None:
            h = h + self.context(c).unsqueeze(1)
        h = self.dropout(self.fc2(F.elu(h)))
        return self.norm(self.skip(x) + F.glu(self.gate(h), dim=-1))


class VariableSelection(nn.Module):
    def __init__(self, count, width):
        super().__init__()
        self.weights = GRN(count * width, width, count, width)
        self.each = nn.ModuleList([GRN(width, width) for _ in range(count)])

    def forward(self, x, c):
        weights = F.softmax(self.weights(x.flatten(2), c), dim=-1)
        parts = torch.stack([g(x[:, :, i]) for i, g in enumerate(self.each)], dim=-1)
        return torch.sum(weights.unsqueeze(2) * parts, dim=-1), weights


class TFT(nn.Module):
    def __init__(self, width=16, variables=4, quantiles=3):
        super().__init__()
        self.static = nn.Embedding(10, width)
        self.inputs = nn.ModuleList([nn.Linear(1, width) for _ in range(variables)])
        self.selection = VariableSelection(variables, width)
        self.h, self.c = GRN(width, width), GRN(width, width)
        self.encoder = nn.LSTM(width, width, batch_first=True)
        self.gate = nn.Linear(width, 2 * width)
        self.norm = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.out = nn.Linear(width, quantiles)

    def forward(self, static, x):
        s = self.static(static)
        e = torch.stack([f(x[..., i : i + 1]) for i, f in enumerate(self.inputs)], dim=2)
        e, weights = self.selection(e, s)
        state = (self.h(s).unsqueeze(0), self.c(s).unsqueeze(0))
        h, _ = self.encoder(e, state)
        h = self.norm(F.glu(self.gate(h)) + e)
        t = x.size(1)
        mask = torch.triu(torch.ones(t, t, dtype=torch.bool, device=x.device), diagonal=1)
        a, attention = self.attention(h, h, h, attn_mask=mask)
        return self.out(h + a), weights, attention


def quantile_loss(prediction, target, quantiles):
    errors = target.unsqueeze(-1) - prediction
    return torch.max((quantiles - 1) * errors, quantiles * errors).sum(-1).mean()


model = TFT().cuda()
optimizer = torch.optim.NAdam(model.parameters(), lr=1e-3)
quantiles = torch.tensor([0.1, 0.5, 0.9], device="cuda")
mark("model")
for step in range(2):
    static = torch.randint(0, 10, (8,), device="cuda")
    x = torch.randn(8, 12, 4, device="cuda")
    out, weights, attention = model(static, x)
    loss = quantile_loss(out, torch.randn(8, 12, device="cuda"), quantiles)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    del out, weights
    mark(f"step {step}")
