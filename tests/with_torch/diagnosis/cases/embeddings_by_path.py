import torch
from torch import nn


def load(paths, size=224):
    for path in paths:
        yield path, torch.rand(1, 3, size, size)


@torch.no_grad()
def extract(model, paths, out):
    for path, image in load(paths):
        features = model(image.cuda())
        out.setdefault(path.split("/")[0], {})[path] = features
    return out


model = nn.Sequential(nn.Conv2d(3, 64, 16, stride=16), nn.ReLU(), nn.Flatten()).cuda().eval()
index = {}
for folder in ("train", "val", "test"):
    extract(model, [f"{folder}/{i}.png" for i in range(1500)], index)
print({k: len(v) for k, v in index.items()})
