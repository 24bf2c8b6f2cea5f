import copy
import torch
from torch import nn
import torch.nn.functional as F


class MLP(nn.Module):
    def __init__(self, dim, hidden, out):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, hidden), nn.BatchNorm1d(hidden), nn.ReLU(inplace=True), nn.Linear(hidden, out))

    def forward(self, x):
        return self.net(x)


class BYOL(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, 24, 3, stride=2), nn.BatchNorm2d(24), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten())
        self.projector = MLP(96, 128, 32)
        self.predictor = MLP(32, 128, 32)
        self.target_encoder = copy.deepcopy(self.encoder)
        self.target_projector = copy.deepcopy(self.projector)
        for p in self.target_encoder.parameters():
            p.requires_grad = False
        for p in self.target_projector.parameters():
            p.requires_grad = False

    def update_target(self, tau):
        for o, t in zip(self.encoder.parameters(), self.target_encoder.parameters()):
            t.data = tau * t.data + (1 - tau) * o.data
        for o, t in zip(self.projector.parameters(), self.target_projector.parameters()):
            t.data = tau * t.data + (1 - tau) * o.data

    def forward(self, x1, x2):
        z1 = self.predictor(self.projector(self.encoder(x1)))
        z2 = self.predictor(self.projector(self.encoder(x2)))
        with torch.no_grad():
            t1 = self.target_projector(self.target_encoder(x1))
            t2 = self.target_projector(self.target_encoder(x2))
        return z1, z2, t1.detach(), t2.detach()


def regression_loss(x, y):
    x = F.normalize(x, dim=-1, p=2)
    y = F.normalize(y, dim=-1, p=2)
    return 2 - 2 * (x * y).sum(dim=-1)


def averaged(average, model, count):
    for pa, p in zip(average.parameters(), model.parameters()):
        p_model = p.detach()
        if count == 0:
            pa.detach().copy_(p_model)
        else:
            pa.detach().add_((p_model - pa.detach()) / (count + 1))


model = BYOL().cuda()
swa = copy.deepcopy(model)
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1, momentum=0.9, weight_decay=1.5e-6)
scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
mark("model")
for step in range(3):
    x = torch.rand(16, 3, 17, 17, device="cuda")
    x1 = torch.flip(x, dims=(3,)).mul(1.2).clamp_(0, 1)
    gray = (0.3 * x[:, 0] + 0.59 * x[:, 1] + 0.11 * x[:, 2]).unsqueeze(1)
    x2 = gray.expand(-1, 3, -1, -1)
    z1, z2, t1, t2 = model(x1, x2)
    loss = (regression_loss(z1, t2) + regression_loss(z2, t1)).mean()
    mark(f"forward {step}")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    model.update_target(0.99)
    averaged(swa, model, step)
    mark(f"step {step}")
for module in swa.modules():
    if isinstance(module, nn.BatchNorm2d):
        module.running_mean.zero_()
        module.running_var.fill_(1)
with torch.no_grad():
    for i in range(2):
        swa.encoder(torch.rand(8, 3, 17, 17, device="cuda"))
features = []
swa.eval()
with torch.inference_mode():
    for i in range(3):
        features.append(swa.encoder(torch.rand(8, 3, 17, 17, device="cuda")).cpu())
    bank = torch.cat(features)
mark("evaluated")
