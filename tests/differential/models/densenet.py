import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


class DenseLayer(nn.Module):
    def __init__(self, inputs, growth, bn_size=4):
        super().__init__()
        self.norm1 = nn.BatchNorm2d(inputs)
        self.conv1 = nn.Conv2d(inputs, bn_size * growth, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(bn_size * growth)
        self.conv2 = nn.Conv2d(bn_size * growth, growth, 3, padding=1, bias=False)

    def bottleneck(self, x):
        return self.conv1(F.relu(self.norm1(x)))

    def forward(self, features):
        x = torch.cat(features, 1)
        if self.training:
            h = checkpoint(self.bottleneck, x, use_reentrant=False)
        else:
            h = self.bottleneck(x)
        h = self.conv2(F.relu(self.norm2(h)))
        return F.dropout(h, p=0.2, training=self.training)


class DenseBlock(nn.Module):
    def __init__(self, count, inputs, growth):
        super().__init__()
        self.layers = nn.ModuleList([DenseLayer(inputs + i * growth, growth) for i in range(count)])

    def forward(self, x):
        features = [x]
        for layer in self.layers:
            features.append(layer(features))
        return torch.cat(features, 1)


class DenseNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv0 = nn.Conv2d(3, 16, 3, padding=1, bias=False)
        self.block1 = DenseBlock(3, 16, 8)
        self.transition = nn.Sequential(nn.BatchNorm2d(40), nn.ReLU(), nn.Conv2d(40, 20, 1, bias=False), nn.AvgPool2d(2, 2))
        self.block2 = DenseBlock(2, 20, 8)
        self.norm5 = nn.BatchNorm2d(36)
        self.classifier = nn.Linear(36, 10)

    def forward(self, x):
        x = self.block1(self.conv0(x))
        x = self.block2(self.transition(x))
        x = F.relu(self.norm5(x), inplace=True)
        x = F.adaptive_avg_pool2d(x, (1, 1)).flatten(1)
        return self.classifier(x)


model = DenseNet().cuda()
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
mark("model")
for step in range(2):
    x = torch.randn(4, 3, 24, 24, device="cuda")
    y = torch.randint(0, 10, (4,), device="cuda")
    opt.zero_grad()
    loss = F.cross_entropy(model(x), y)
    mark(f"forward {step}")
    loss.backward()
    opt.step()
    mark(f"step {step}")
model.eval()
with torch.inference_mode():
    out = model(x).softmax(dim=1)
mark("eval")
