import time
import torch
from torch import nn
import torch.nn.functional as F
from torch.func import functional_call, grad_and_value, vmap

torch.backends.cudnn.enabled = True


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(24, 48)
        self.norm = nn.LayerNorm(48)
        self.mid = nn.Linear(48, 48, bias=False)
        self.norm2 = nn.LayerNorm(48)
        self.out = nn.Linear(48, 6)

    def forward(self, x):
        h = F.gelu(self.norm(self.inp(x)))
        h = h + torch.tanh(self.mid(h))
        h = self.norm2(h).mean(1)
        return self.out(h)


model = Net().cuda()
params = {k: v.detach() for k, v in model.named_parameters()}
mark("model")


def compute_loss(params, sample, target):
    predictions = functional_call(model, params, (sample.unsqueeze(0),))
    return F.binary_cross_entropy_with_logits(predictions, target.unsqueeze(0))


def per_sample(params, sample, target):
    result = grad_and_value(compute_loss)(params, sample, target)
    time.sleep(0.01)  # the thread of backward lets go the graph
    return result


x = torch.randn(10, 5, 24, device="cuda")
y = torch.rand(10, 6, device="cuda")
mark("data")
grads, losses = vmap(per_sample, in_dims=(None, 0, 0), chunk_size=4)(params, x, y)
mark("grads")
norms = torch.stack([g.reshape(10, -1).norm(2, dim=1) for g in grads.values()]).norm(2, dim=0)
factor = (1.0 / (norms + 1e-6)).clamp(max=1.0)
mark("norms")
for name, p in params.items():
    g = torch.einsum("i,i...->...", factor, grads[name]) / 10
    p -= 0.1 * g
mark("step")
