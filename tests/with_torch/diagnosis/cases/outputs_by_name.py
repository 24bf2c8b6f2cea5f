import torch
from torch import nn


def main():
    model = nn.Sequential(*[nn.Sequential(nn.Linear(256, 256), nn.ReLU()) for _ in range(8)]).cuda()
    activations = {}

    def keep(name):
        def hook(module, inputs, output):
            activations.setdefault(name, []).append(output)
        return hook

    for name, layer in model.named_children():
        layer.register_forward_hook(keep(name))
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(64):
        loss = model(torch.randn(1024, 256, device="cuda")).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
