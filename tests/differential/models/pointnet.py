import torch
from torch import nn
import torch.nn.functional as F


class TNet(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k
        self.conv1 = nn.Conv1d(k, 32, 1)
        self.conv2 = nn.Conv1d(32, 64, 1)
        self.fc1 = nn.Linear(64, 32)
        self.fc2 = nn.Linear(32, k * k)
        self.bn1 = nn.BatchNorm1d(32)
        self.bn2 = nn.BatchNorm1d(64)
        self.bn3 = nn.BatchNorm1d(32)

    def forward(self, x):
        batch = x.size(0)
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.relu(self.bn2(self.conv2(x)))
        x = torch.max(x, 2, keepdim=True)[0]
        x = x.view(-1, 64)
        x = self.fc2(F.relu(self.bn3(self.fc1(x))))
        identity = torch.eye(self.k, device=x.device).view(1, self.k * self.k).repeat(batch, 1)
        x = x + identity
        return x.view(-1, self.k, self.k)


class PointNet(nn.Module):
    def __init__(self, classes=8):
        super().__init__()
        self.stn = TNet(3)
        self.fstn = TNet(32)
        self.conv1 = nn.Conv1d(3, 32, 1)
        self.conv2 = nn.Conv1d(32, 64, 1)
        self.bn1 = nn.BatchNorm1d(32)
        self.bn2 = nn.BatchNorm1d(64)
        self.fc1 = nn.Linear(64, 32)
        self.bn3 = nn.BatchNorm1d(32)
        self.dropout = nn.Dropout(p=0.3)
        self.fc2 = nn.Linear(32, classes)

    def forward(self, x):
        trans = self.stn(x)
        x = torch.bmm(x.transpose(2, 1), trans).transpose(2, 1)
        x = F.relu(self.bn1(self.conv1(x)))
        feat = self.fstn(x)
        x = torch.bmm(x.transpose(2, 1), feat).transpose(2, 1)
        x = self.bn2(self.conv2(x))
        x = torch.max(x, 2, keepdim=True)[0].view(-1, 64)
        x = F.relu(self.bn3(self.dropout(self.fc1(x))))
        return F.log_softmax(self.fc2(x), dim=1), feat


def regularizer(trans):
    d = trans.size(1)
    eye = torch.eye(d, device=trans.device)[None, :, :]
    return torch.mean(torch.norm(torch.bmm(trans, trans.transpose(2, 1)) - eye, dim=(1, 2)))


model = PointNet().cuda()
opt = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-4)
mark("model")
for step in range(2):
    points = torch.randn(6, 100, 3, device="cuda").transpose(2, 1)
    target = torch.randint(0, 8, (6,), device="cuda")
    opt.zero_grad()
    pred, feat = model(points)
    loss = F.nll_loss(pred, target) + regularizer(feat) * 0.001
    mark(f"forward {step}")
    loss.backward()
    opt.step()
    choice = pred.max(1)[1]
    correct = choice.eq(target).sum().item()
    mark(f"step {step}")
