import torch
from torch import nn

activation = {}


def get_activation(name):
    def hook(module, args, output):
        activation[name] = output
    return hook


model = nn.Sequential()
for i in range(5):
    model.add_module(f"conv{i}", nn.Conv2d(3 if i == 0 else 16, 16, 3, padding=1))
    model.add_module(f"act{i}", nn.ReLU())
model.cuda()
for i in range(5):
    getattr(model, f"conv{i}").register_forward_hook(get_activation(f"conv{i}"))
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(40):
    out = model(torch.rand(8, 3, 64, 64, device="cuda"))
    loss = out.mean() + 0.1 * sum(a.abs().mean() for a in activation.values())
    opt.zero_grad()
    loss.backward()
    opt.step()
