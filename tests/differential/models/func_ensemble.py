import time
import torch
from torch import nn
import torch.nn.functional as F
from torch.func import functional_call, vmap, grad_and_value, stack_module_state

models = [nn.Sequential(nn.Linear(30, 50), nn.ReLU(), nn.Linear(50, 50), nn.GELU(), nn.Linear(50, 4)).cuda() for i in range(3)]
mark("models")
params, buffers = stack_module_state(models)
base = models[0]
mark("stacked")


def forward(params, buffers, x):
    return functional_call(base, (params, buffers), (x,))


x = torch.randn(8, 30, device="cuda")
y = torch.randn(8, 4, device="cuda")
with torch.no_grad():
    out = vmap(forward, in_dims=(0, 0, None))(params, buffers, x)
mark("forward")


def loss_fn(params, buffers, x, y):
    return F.mse_loss(forward(params, buffers, x), y)


with torch.no_grad():
    for i in range(2):
        grads, losses = vmap(grad_and_value(loss_fn), in_dims=(0, 0, None, None))(params, buffers, x, y)
        time.sleep(0.01)
        mark("gradients")
        for name in params:
            params[name] -= 0.1 * grads[name]
        mark("step")
