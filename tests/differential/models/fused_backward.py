import torch
from torch import nn
import torch.nn.functional as F


class Inception(nn.Module):
    def __init__(self, cin, c1, c3, c5, cp):
        super().__init__()
        self.b1 = nn.Conv2d(cin, c1, 1)
        self.b3 = nn.Sequential(nn.Conv2d(cin, c3, 1), nn.ReLU(inplace=True), nn.Conv2d(c3, c3, (1, 3), padding=(0, 1)), nn.Conv2d(c3, c3, (3, 1), padding=(1, 0)))
        self.b5 = nn.Sequential(nn.Conv2d(cin, c5, 1), nn.ReLU(inplace=True), nn.Conv2d(c5, c5, 5, padding=2))
        self.bp = nn.Sequential(nn.MaxPool2d(3, stride=1, padding=1), nn.Conv2d(cin, cp, 1))

    def forward(self, x):
        return F.relu(torch.cat([self.b1(x), self.b3(x), self.b5(x), self.bp(x)], 1), inplace=True)


class GoogLeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(inplace=True), nn.LocalResponseNorm(5), nn.MaxPool2d(2, ceil_mode=True))
        self.inc1 = Inception(16, 8, 8, 4, 4)
        self.inc2 = Inception(24, 8, 12, 4, 8)
        self.aux = nn.Sequential(nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(96, 32), nn.ReLU(), nn.Dropout(0.7), nn.Linear(32, 6))
        self.fc = nn.Linear(32, 6)

    def forward(self, x):
        x = self.inc1(self.stem(x))
        aux = self.aux(x) if self.training else None
        x = self.inc2(x)
        x = torch.flatten(F.adaptive_avg_pool2d(x, (1, 1)), 1)
        x = F.dropout(x, 0.4, self.training)
        return self.fc(x), aux


model = GoogLeNet().cuda()
optimizers = {p: torch.optim.SGD([p], lr=0.01, momentum=0.9, foreach=False) for p in model.parameters()}


def optimizer_hook(parameter):
    optimizers[parameter].step()
    optimizers[parameter].zero_grad()


for p in model.parameters():
    p.register_post_accumulate_grad_hook(optimizer_hook)
criterion = nn.CrossEntropyLoss()
mark("model")
for step in range(3):
    x = torch.randn(6, 3, 17, 17, device="cuda")
    y = torch.randint(0, 6, (6,), device="cuda")
    out, aux = model(x)
    loss = criterion(out, y) + 0.3 * criterion(aux, y)
    mark(f"forward {step}")
    loss.backward()
    mark(f"step {step}")
model.eval()
with torch.no_grad():
    out, _ = model(x)
    probs = torch.softmax(out, dim=1)
    conf, pred = probs.max(dim=1)
mark("evaluated")
