import torch
from torch import nn
import torch.nn.functional as F


class RoundSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale, low, high):
        scaled = x / scale
        ctx.save_for_backward(scaled, scale)
        ctx.low, ctx.high = low, high
        return scaled.round().clamp(low, high) * scale

    @staticmethod
    def backward(ctx, grad):
        scaled, scale = ctx.saved_tensors
        inside = (scaled >= ctx.low) & (scaled <= ctx.high)
        grad_x = grad * inside
        grad_scale = (grad * torch.where(inside, scaled.round() - scaled, scaled.clamp(ctx.low, ctx.high))).sum().view_as(scale)
        return grad_x, grad_scale, None, None


class QuantLinear(nn.Module):
    def __init__(self, inputs, outputs, bits=4):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs))
        self.bias = nn.Parameter(torch.zeros(outputs))
        nn.init.kaiming_uniform_(self.weight, a=2.0)
        self.w_scale = nn.Parameter(torch.tensor([0.05]))
        self.a_scale = nn.Parameter(torch.tensor([0.1]))
        self.register_buffer("mask", torch.ones(outputs, inputs))
        self.high = 2 ** (bits - 1) - 1

    def forward(self, x):
        w = RoundSTE.apply(self.weight * self.mask, self.w_scale, -self.high, self.high)
        a = RoundSTE.apply(x, self.a_scale, 0, 2 * self.high)
        return F.linear(a, w, self.bias)


def prune(layer, amount):
    with torch.no_grad():
        flat = layer.weight.abs().flatten()
        k = int(flat.numel() * amount)
        threshold = flat.kthvalue(k).values
        layer.mask.copy_((layer.weight.abs() > threshold).float())


l1 = QuantLinear(41, 150).cuda()
l2 = QuantLinear(150, 77).cuda()
l3 = QuantLinear(77, 5, bits=8).cuda()
layers = [l1, l2, l3]
weights = [l.weight for l in layers] + [l.bias for l in layers]
scales = [l.w_scale for l in layers] + [l.a_scale for l in layers]
optimizer = torch.optim.SGD([{"params": weights, "weight_decay": 1e-4}, {"params": scales, "lr": 1e-3}], lr=0.05, momentum=0.9)
mark("model")
for step in range(4):
    if step == 2:
        prune(l1, 0.5)
        prune(l2, 0.3)
        mark("pruned")
    x = torch.rand(29, 41, device="cuda")
    y = torch.randint(0, 5, (29,), device="cuda")
    h = F.relu(l1(x))
    h = F.relu(l2(h))
    loss = F.cross_entropy(l3(h), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for s in scales:
            s.clamp_(min=1e-5)
        for layer in layers:
            layer.weight.mul_(layer.mask)
    mark(f"step {step}")
sparsity = 1 - torch.stack([l.mask.mean() for l in layers]).mean().item()
mark("done")
