"""Ways of running operators: CUDA graphs, threads, compiled functions, transformed functions."""
import math
import threading

import torch
from torch import nn
from torch.nn import functional as F

from cases import numbers, sums


def cuda_graphs(device):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x, y = torch.zeros(5, 8, device=device), torch.zeros(5, 4, device=device)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    def feed(seed):
        x.copy_(numbers(5, 8, seed=seed))
        y.copy_(numbers(5, 4, seed=100 + seed))

    def steps_of_cpu():
        for seed in range(9):
            feed(seed)
            yield step().item()

    def replayed():
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for seed in range(3):
                feed(seed)
                yield step().item()
        graph = torch.cuda.CUDAGraph()
        optimizer.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph):
            loss = step()
        for seed in range(3, 9):
            feed(seed)
            graph.replay()
            yield loss.item()

    return list(steps_of_cpu() if device == "cpu" else replayed())


def captured_copies(device):
    """What is captured writes nothing by then."""
    torch.manual_seed(0)
    weight = numbers(6, 6).to(device).requires_grad_()
    options = {"capturable": True} if device == "cuda" else {}
    optimizer = torch.optim.Rprop([weight], lr=0.1, foreach=False, **options)
    weight.grad = torch.zeros_like(weight)
    for seed in range(3):
        weight.grad.copy_(numbers(6, 6, seed=seed))
        optimizer.step()
    step = optimizer.step
    if device == "cuda":
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            optimizer.step()
        step = graph.replay
    for seed in range(3, 6):
        weight.grad.copy_(numbers(6, 6, seed=seed))
        step()
    return sums(weight)


def captured_rate(device):
    """Each replay reads a learning rate that lies on the host."""
    weight = numbers(6, 6).to(device).requires_grad_()
    weight.grad = numbers(6, 6, seed=1).to(device)
    optimizer = torch.optim.SGD([weight], lr=torch.tensor(0.125), fused=True)
    optimizer.step()
    step = optimizer.step
    if device == "cuda":
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            optimizer.step()
        step = graph.replay
    step()
    step()
    return sums(weight)


def threads(device):
    found = [0.0] * 3

    def work(index):
        model = nn.Linear(4, 4).to(device)
        model.weight.data.copy_(numbers(4, 4, seed=index))
        loss = (model(numbers(3, 4).to(device)) - model.bias).pow(2).sum()
        loss.backward()
        found[index] = loss.item() + model.weight.grad.sum().item()

    started = [threading.Thread(target=work, args=(index,)) for index in range(3)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    return found


def compiled(device):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 2)).to(device)
    called = torch.compile(model, backend="aot_eager")
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    found = []
    for step in range(3):
        optimizer.zero_grad()
        loss = called(numbers(4, 6, seed=step).to(device)).pow(2).mean()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def transformed(device):
    x, w = numbers(5, 4).to(device), numbers(4, 4, seed=1).to(device)
    made = torch.func

    def function(row):
        return (row @ w).tanh().sum()

    return sums(made.vmap(made.grad(function))(x), made.jacrev(lambda row: (row @ w).sin())(x[0]),
                made.hessian(function)(x[0]), made.jvp(torch.exp, (x,), (x,))[1])


def inferred(device):
    with torch.inference_mode():
        q = numbers(1, 2, 5, 8).to(device)
        return sums(F.scaled_dot_product_attention(q, q, q), q.softmax(-1) @ q.transpose(2, 3))


def scripted(device):
    @torch.jit.script
    def walk(x, count: int):
        for _ in range(count):
            if bool((x.sum() > 0).item()):
                x = x * 0.5 - 1
            else:
                x = x.sin() + 1
        return x

    @torch.jit.script
    def fused(x, y):
        return (x * y + x).tanh() * 2

    @torch.jit.script
    def packed(x, lengths):
        rows = nn.utils.rnn.pack_padded_sequence(x * math.sqrt(2.0), lengths, batch_first=True)
        return rows.data

    x, y = numbers(4, 4).to(device), numbers(4, 4, seed=1).to(device)
    return sums(walk(x, 7), *(fused(x, y) for _ in range(4)), packed(x[None], torch.tensor([3])))


CASES = [cuda_graphs, captured_copies, captured_rate, threads, compiled, transformed, inferred, scripted]
