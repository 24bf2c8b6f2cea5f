import torch
from torch import nn
import torch.nn.functional as F

torch.backends.cudnn.enabled = True


class LayerNorm2d(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.bias = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        u = x.mean(1, keepdim=True)
        s = (x - u).pow(2).mean(1, keepdim=True)
        x = (x - u) / torch.sqrt(s + 1e-6)
        return self.weight[:, None, None] * x + self.bias[:, None, None]


class DropPath(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if self.p == 0.0 or not self.training:
            return x
        keep = 1 - self.p
        mask = x.new_empty(x.shape[0], 1, 1, 1).bernoulli_(keep)
        mask.div_(keep)
        return x * mask


class Block(nn.Module):
    def __init__(self, dim, drop):
        super().__init__()
        self.dwconv = nn.Conv2d(dim, dim, 7, padding=3, groups=dim)
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.pwconv1 = nn.Linear(dim, 4 * dim)
        self.act = nn.GELU()
        self.pwconv2 = nn.Linear(4 * dim, dim)
        self.gamma = nn.Parameter(1e-6 * torch.ones(dim))
        self.drop_path = DropPath(drop)

    def forward(self, x):
        shortcut = x
        x = self.dwconv(x)
        x = x.permute(0, 2, 3, 1)
        x = self.norm(x)
        x = self.pwconv2(self.act(self.pwconv1(x)))
        x = self.gamma * x
        x = x.permute(0, 3, 1, 2)
        return shortcut + self.drop_path(x)


class ConvNeXt(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 32, 4, stride=4), LayerNorm2d(32))
        self.stage1 = nn.Sequential(Block(32, 0.0), Block(32, 0.1))
        self.down = nn.Sequential(LayerNorm2d(32), nn.Conv2d(32, 64, 2, stride=2))
        self.stage2 = nn.Sequential(Block(64, 0.1), Block(64, 0.2))
        self.norm = nn.LayerNorm(64, eps=1e-6)
        self.head = nn.Linear(64, 20)

    def forward(self, x):
        x = self.stage1(self.stem(x))
        x = self.stage2(self.down(x))
        x = self.norm(x.mean([-2, -1]))
        return self.head(x)


model = ConvNeXt().cuda()
ema = {}
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.05)
mark("model")
for step in range(3):
    x = torch.randn(8, 3, 32, 32, device="cuda")
    y = torch.randint(0, 20, (8,), device="cuda")
    perm = torch.randperm(8, device="cuda")
    onehot = F.one_hot(y, 20).float()
    if step % 2 == 0:
        x = 0.7 * x + 0.3 * x[perm]
        target = 0.7 * onehot + 0.3 * onehot[perm]
    else:
        x[:, :, 4:20, 8:24] = x[perm, :, 4:20, 8:24]
        target = onehot * 0.75 + onehot[perm] * 0.25
    with torch.autocast("cuda", dtype=torch.bfloat16):
        out = model(x)
        loss = torch.sum(-target * F.log_softmax(out, dim=-1), dim=-1).mean()
    mark(f"forward {step}")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mark(f"step {step}")
model.eval()
correct = 0
with torch.inference_mode():
    for i in range(2):
        x = torch.randn(8, 3, 32, 32, device="cuda")
        y = torch.randint(0, 20, (8,), device="cuda")
        out = model(x)
        correct += (out.argmax(1) == y).sum().item()
mark("evaluated")
