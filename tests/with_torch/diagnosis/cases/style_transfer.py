import torch
from torch import nn
from torch.nn import functional as F

vgg = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(),
                    nn.MaxPool2d(2), nn.Conv2d(64, 128, 3, padding=1), nn.ReLU()).cuda().eval()
for p in vgg.parameters():
    p.requires_grad_(False)


def features(x):
    out = []
    for layer in vgg:
        x = layer(x)
        if isinstance(layer, nn.ReLU):
            out.append(x)
    return out


def gram(f):
    b, c, h, w = f.shape
    f = f.view(b * c, h * w)
    return f @ f.t() / (b * c * h * w)


content, style = torch.rand(1, 3, 256, 256, device="cuda"), torch.rand(1, 3, 256, 256, device="cuda")
with torch.no_grad():
    targets = [gram(f) for f in features(style)]
    reference = features(content)[-1]
image = content.clone().requires_grad_(True)
optimizer = torch.optim.LBFGS([image], max_iter=4)
for _ in range(10):
    def closure():
        optimizer.zero_grad()
        fs = features(image)
        loss = F.mse_loss(fs[-1], reference) + 1e5 * sum(F.mse_loss(gram(f), t) for f, t in zip(fs, targets))
        loss.backward()
        return loss
    optimizer.step(closure)
