import torch
from torch import nn
import torch.nn.functional as F


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        gate = torch.sigmoid(x)
        ctx.save_for_backward(x, gate)
        return x * gate

    @staticmethod
    def backward(ctx, grad):
        x, gate = ctx.saved_tensors
        slope = x * gate * (1 - gate)
        return grad * (gate + slope)


class ClippedGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, limit):
        ctx.limit = limit
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad.clamp(-ctx.limit, ctx.limit), None


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(32, 256)
        self.fc2 = nn.Linear(256, 256)
        self.fc3 = nn.Linear(256, 8)

    def forward(self, x):
        h = Swish.apply(self.fc1(x))
        h = Swish.apply(self.fc2(h))
        h = ClippedGradient.apply(h, 0.5)
        h.retain_grad()
        return self.fc3(h), h


def halved(grad):
    return grad * 0.5


def doubled(grad):
    return grad * 2


model = Net().to("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
norms = []


def note(module, grad_input, grad_output):
    norms.append(grad_output[0].norm())


handle = model.fc2.register_full_backward_hook(note)
leaf_handle = model.fc1.weight.register_hook(halved)
mark("model")
for step in range(3):
    x = torch.randn(64, 32, device="cuda")
    y = torch.randint(0, 8, (64,), device="cuda")
    logits, hidden = model(x)
    logits.register_hook(doubled)
    mark(f"forward {step}")
    loss = F.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    mark(f"backward {step}")
    size = hidden.grad.norm()
    optimizer.step()
    mark(f"step {step}")
handle.remove()
leaf_handle.remove()
logits, hidden = model(x)
loss = F.cross_entropy(logits, y)
loss.backward()
mark("without hooks")
