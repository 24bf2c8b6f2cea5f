import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


class MLP(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc1 = nn.Linear(dim, 4 * dim)
        self.fc2 = nn.Linear(4 * dim, dim)
        self.drop = nn.Dropout(0.2)

    def forward(self, x):
        return self.drop(self.fc2(F.gelu(self.fc1(x))))


class Layer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.n1 = nn.LayerNorm(dim)
        self.n2 = nn.LayerNorm(dim)
        self.attention = nn.MultiheadAttention(dim, heads, dropout=0.1, batch_first=True)
        self.mlp = MLP(dim)

    def attend(self, x, mask):
        h = self.n1(x)
        out, _ = self.attention(h, h, h, attn_mask=mask, need_weights=False)
        return x + out

    def feed(self, x):
        return x + checkpoint(self.mlp, self.n2(x), use_reentrant=False)

    def forward(self, x, mask):
        x = self.attend(x, mask)
        return self.feed(x)


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(190, 44)
        self.layers = nn.ModuleList([Layer(44, 4) for i in range(3)])
        self.tail = nn.Sequential(nn.Linear(44, 88), nn.Tanh(), nn.Dropout(0.3), nn.Linear(88, 190))

    def forward(self, ids, mask):
        x = self.embed(ids)
        for layer in self.layers:
            x = checkpoint(layer, x, mask, use_reentrant=False)
        return checkpoint(self.tail, x, use_reentrant=True, preserve_rng_state=False)


model = Stack().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
mask = torch.full((15, 15), float("-inf"), device="cuda").triu(1)
mark("model")
for step in range(2):
    ids = torch.randint(0, 190, (5, 16), device="cuda")
    logits = model(ids[:, :-1], mask)
    loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    mark(f"forward {step}")
    optimizer.zero_grad()
    loss.backward()
    mark(f"backward {step}")
    optimizer.step()
with torch.autocast("cuda", dtype=torch.bfloat16):
    logits = model(ids[:, :-1], mask)
    loss = logits.float().logsumexp(-1).mean()
loss.backward()
mark("autocast")
model.eval()
with torch.no_grad():
    logits = model(ids[:, :-1], mask)
mark("eval")
