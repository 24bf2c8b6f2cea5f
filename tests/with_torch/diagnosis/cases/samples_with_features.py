import functools

import torch
from torch import nn

backbone = nn.Sequential(nn.Conv2d(3, 32, 7, stride=4), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU()).cuda().eval()


class Sample:
    def __init__(self, path):
        self.path = path

    @functools.cached_property
    def features(self):
        image = torch.rand(1, 3, 256, 256, device="cuda")
        with torch.no_grad():
            return backbone(image)

    def distance(self, other):
        return (self.features - other.features).norm()


def main():
    samples = [Sample(f"{i:05}.jpg") for i in range(3000)]
    best = []
    for a, b in zip(samples, samples[1:]):
        best.append((a.distance(b).item(), a.path))
    print(min(best))


if __name__ == "__main__":
    main()
