import torch
from torch import nn
import torch.nn.functional as F


class SurrogateSpike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x > 0).float()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad = grad_output / (10.0 * torch.abs(x) + 1.0) ** 2
        return grad


spike = SurrogateSpike.apply


class LIF(nn.Module):
    def __init__(self, features, beta):
        super().__init__()
        self.beta = nn.Parameter(torch.full((features,), beta))
        self.threshold = 1.0

    def forward(self, current, mem):
        reset = spike(mem - self.threshold).detach()
        mem = self.beta.clamp(0, 1) * mem + current - reset * self.threshold
        return spike(mem - self.threshold), mem


class SNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 100)
        self.lif1 = LIF(100, 0.9)
        self.fc2 = nn.Linear(100, 10)
        self.lif2 = LIF(10, 0.8)

    def forward(self, x):
        mem1 = torch.zeros(x.size(1), 100, device=x.device)
        mem2 = torch.zeros(x.size(1), 10, device=x.device)
        spikes = []
        mems = []
        for t in range(x.size(0)):
            s1, mem1 = self.lif1(self.fc1(x[t]), mem1)
            s2, mem2 = self.lif2(self.fc2(s1), mem2)
            spikes.append(s2)
            mems.append(mem2)
        return torch.stack(spikes), torch.stack(mems)


net = SNN().cuda()
optimizer = torch.optim.Adamax(net.parameters(), lr=2e-3, betas=(0.9, 0.999))
log_softmax = nn.LogSoftmax(dim=-1)
nll = nn.NLLLoss()
mark("model")
for step in range(3):
    images = torch.rand(32, 64, device="cuda")
    labels = torch.randint(0, 10, (32,), device="cuda")
    x = torch.bernoulli(images.unsqueeze(0).expand(8, -1, -1))
    spk, mem = net(x)
    mark(f"forward {step}")
    p = log_softmax(mem)
    loss = torch.zeros(1, device="cuda")
    for t in range(8):
        loss += nll(p[t], labels)
    rate = spk.mean()
    loss = loss + 1e-3 * (rate - 0.1) ** 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mark(f"step {step}")
    _, idx = spk.sum(dim=0).max(1)
    acc = (idx == labels).float().mean()
