import time
import torch
from torch import nn
import torch.nn.functional as F
from torch.func import functional_call, grad, vmap

torch.backends.cudnn.enabled = True


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, stride=2, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.fc1 = nn.Linear(16 * 7 * 7, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.relu(self.fc1(x.flatten(1)))
        return self.fc2(x)


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
    x = torch.randn(6, 1, 28, 28, device="cuda")
    y = torch.randint(0, 10, (6,), device="cuda")
    grads = per_sample(params, buffers, x, y)
    time.sleep(0.01)
    mark(f"gradients {step}")
    norms = torch.stack([g.reshape(6, -1).norm(2, dim=1) for g in grads.values()]).norm(2, dim=0)
    factor = (1.0 / (norms + 1e-6)).clamp(max=1.0)
    for name in params:
        g = torch.einsum("i,i...->...", factor, grads[name])
        g = g + torch.randn_like(g) * 0.5
        params[name] = params[name] - 0.1 * g / 6
    mark(f"step {step}")
