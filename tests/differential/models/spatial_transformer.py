import torch
from torch import nn
import torch.nn.functional as F

torch.backends.cudnn.enabled = True


class STN(nn.Module):
    def __init__(self):
        super().__init__()
        self.localization = nn.Sequential(nn.Conv2d(1, 8, 7), nn.MaxPool2d(2, stride=2), nn.ReLU(True), nn.Conv2d(8, 10, 5), nn.MaxPool2d(2, stride=2), nn.ReLU(True))
        self.fc_loc = nn.Sequential(nn.Linear(10 * 3 * 3, 32), nn.ReLU(True), nn.Linear(32, 6))
        self.fc_loc[2].weight.data.zero_()
        self.fc_loc[2].bias.data.copy_(torch.tensor([1, 0, 0, 0, 1, 0], dtype=torch.float))
        self.conv = nn.Conv2d(1, 12, 5)
        self.drop = nn.Dropout2d()
        self.fc = nn.Linear(12 * 12 * 12, 10)

    def forward(self, x):
        xs = self.localization(x)
        theta = self.fc_loc(xs.view(-1, 90)).view(-1, 2, 3)
        grid = F.affine_grid(theta, x.size(), align_corners=False)
        x = F.grid_sample(x, grid, align_corners=False)
        x = F.relu(F.max_pool2d(self.drop(self.conv(x)), 2))
        x = F.dropout(self.fc(x.flatten(1)), training=self.training)
        return F.log_softmax(x, dim=1), grid


model = STN().cuda()
optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 2], gamma=0.7)
mark("model")
for step in range(3):
    data = torch.randn(9, 1, 28, 28, device="cuda")
    target = torch.randint(0, 10, (9,), device="cuda")
    optimizer.zero_grad()
    output, grid = model(data)
    smooth = (grid[:, 1:] - grid[:, :-1]).abs().mean() + (grid[:, :, 1:] - grid[:, :, :-1]).abs().mean()
    loss = F.nll_loss(output, target) + 0.1 * smooth
    loss.backward()
    optimizer.step()
    scheduler.step()
    mark(f"step {step}")
model.eval()
with torch.no_grad():
    output, grid = model(data)
    test_loss = F.nll_loss(output, target, reduction="sum").item()
    pred = output.max(1, keepdim=True)[1]
    correct = pred.eq(target.view_as(pred)).sum().item()
mark("tested")
