import torch
import torch.nn as nn


class FeatureExtractor:
    def __init__(self, model, layer):
        self.model, self.layer = model, layer
        self.features = []

    def save(self, module, args, output):
        self.features.append(output)

    def __call__(self, x):
        self.layer.register_forward_hook(self.save)
        return self.model(x)


model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(),
                      nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 2)).cuda()
extract = FeatureExtractor(model, model[2])
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(500):
    images = torch.rand(16, 3, 64, 64, device="cuda")
    labels = torch.randint(0, 2, (16,), device="cuda")
    loss = nn.functional.cross_entropy(extract(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
