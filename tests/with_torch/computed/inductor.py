"""What inductor compiles: its Triton kernels compute nothing."""
import torch
from torch import nn
from torch.nn import functional as F

from cases import numbers, sums


def backend(device):
    return "inductor" if device == "cuda" else "eager"


def trained(device):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.BatchNorm1d(8), nn.Linear(8, 2)).to(device)
    called = torch.compile(model, backend=backend(device))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    found = []
    for step in range(3):
        optimizer.zero_grad()
        loss = called(numbers(4, 6, seed=step).to(device)).pow(2).mean()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found + sums(model[2].running_mean, *model.parameters())


def written(device):
    """An argument of the compiled function."""
    x = numbers(3, 4).to(device)

    @torch.compile(backend=backend(device))
    def change(x):
        x.add_(1)
        x[0].zero_()
        return F.scaled_dot_product_attention(x[None], x[None], x[None]) + x.sort(0)[0]

    return sums(change(x), x)


def dropped(device):
    """The gradient has the mask of the values."""
    if device == "cpu":
        return [1.0, 1.0]
    x = torch.ones(50000, device=device, requires_grad=True)
    made = torch.compile(lambda x: F.dropout(x, 0.5))(x)
    made.sum().backward()
    return [float((x.grad == made).all()), float(abs(made.mean().item() - 1) < 0.02)]


def between_graphs(device):
    """Only what the program itself does becomes graphs, not what computes values."""
    torch._dynamo.reset()
    counters = torch._dynamo.utils.counters
    counters.clear()

    @torch.compile(backend="eager")
    def run(x):
        torch._dynamo.graph_break()
        made = torch.ones(1 << 20, device=device).cumsum(0)
        torch._dynamo.graph_break()
        return x.nonzero().sum() + made[-1]

    found = run(torch.arange(40, device=device) % 3)
    return [found.item(), counters["stats"]["unique_graphs"]]


CASES = [trained, written, dropped, between_graphs]
