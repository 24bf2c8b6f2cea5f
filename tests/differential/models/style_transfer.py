import torch
from torch import nn
import torch.nn.functional as F


class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 3, padding=1)
        self.conv2 = nn.Conv2d(32, 32, 3, padding=1)
        self.conv3 = nn.Conv2d(32, 64, 3, padding=1)
        self.conv4 = nn.Conv2d(64, 64, 3, padding=1)
        self.pool = nn.AvgPool2d(2)

    def forward(self, x):
        feats = []
        x = F.relu(self.conv1(x))
        feats.append(x)
        x = F.relu(self.conv2(x))
        feats.append(x)
        x = self.pool(x)
        x = F.relu(self.conv3(x), inplace=True)
        feats.append(x)
        x = F.relu(self.conv4(x))
        feats.append(x)
        return feats


def gram_matrix(x):
    b, c, h, w = x.size()
    features = x.view(b * c, h * w)
    gram = torch.mm(features, features.t())
    return gram.div(b * c * h * w)


def tv_loss(x):
    dx = x[:, :, :, 1:] - x[:, :, :, :-1]
    dy = x[:, :, 1:, :] - x[:, :, :-1, :]
    return dx.abs().mean() + dy.pow(2).mean()


net = Features().cuda().eval()
for p in net.parameters():
    p.requires_grad_(False)
content = torch.rand(1, 3, 48, 48, device="cuda")
style = torch.rand(1, 3, 48, 48, device="cuda")
mean = torch.tensor([0.485, 0.456, 0.406], device="cuda").view(-1, 1, 1)
std = torch.tensor([0.229, 0.224, 0.225], device="cuda").view(-1, 1, 1)
mark("images")
with torch.no_grad():
    content_feats = net((content - mean) / std)
    style_feats = net((style - mean) / std)
    content_target = content_feats[3].detach()
    grams = [gram_matrix(f) for f in style_feats]
del content_feats, style_feats
mark("targets")
image = content.clone().requires_grad_(True)
optimizer = torch.optim.LBFGS([image], max_iter=4, history_size=3, tolerance_grad=0, tolerance_change=0)


def closure():
    with torch.no_grad():
        image.clamp_(0, 1)
    optimizer.zero_grad()
    feats = net((image - mean) / std)
    content_loss = F.mse_loss(feats[3], content_target)
    style_loss = 0
    for f, g in zip(feats, grams):
        style_loss = style_loss + F.mse_loss(gram_matrix(f), g)
    loss = content_loss + 1e5 * style_loss + 1e-2 * tv_loss(image)
    loss.backward()
    return loss


for step in range(3):
    optimizer.step(closure)
    mark(f"step {step}")
with torch.no_grad():
    image.clamp_(0, 1)
result = image.detach().cpu().squeeze(0)
mark("result")
