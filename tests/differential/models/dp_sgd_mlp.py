import time
import torch
from torch import nn
import torch.nn.functional as F
from torch.func import functional_call, grad, vmap


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(40, 64)
        self.fc2 = nn.Linear(64, 48)
        self.fc3 = nn.Linear(48, 10)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = torch.tanh(self.fc2(x))
        return self.fc3(x)


def compute_loss(params, buffers, sample, target):
    time.sleep(0.01)  # the thread of backward lets go the graph of the call before
    predictions = functional_call(model, (params, buffers), (sample.unsqueeze(0),))
    return F.cross_entropy(predictions, target.unsqueeze(0))


model = Net().cuda()
params = {k: v.detach() for k, v in model.named_parameters()}
buffers = {k: v.detach() for k, v in model.named_buffers()}
per_sample = vmap(grad(compute_loss), in_dims=(None, None, 0, 0))
mark("model")
for step in range(2):
    x = torch.randn(16, 40, device="cuda")
    y = torch.randint(0, 10, (16,), device="cuda")
    grads = per_sample(params, buffers, x, y)
    time.sleep(0.01)
    mark(f"gradients {step}")
    norms = torch.stack([g.reshape(16, -1).norm(2, dim=1) for g in grads.values()]).norm(2, dim=0)
    factor = (1.0 / (norms + 1e-6)).clamp(max=1.0)
    for name in params:
        g = torch.einsum("i,i...->...", factor, grads[name])
        g = g + torch.randn_like(g) * 0.5
        params[name] = params[name] - 0.1 * g / 16
    mark(f"step {step}")
