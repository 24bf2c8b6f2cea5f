"""Learning rates that a program lowers itself when a loss does not fall, which matter only where they end something."""
import math
import operator

import torch

from cases import case


class Model:
    def __init__(self, device):
        self.net = torch.nn.Linear(8, 4).to(device)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.inputs = torch.randn(16, 8).to(device)
        self.steps = 0

    def step(self):
        self.steps += 1
        loss = self.net(self.inputs).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss


class SignDescent(torch.optim.Optimizer):
    """Its groups have no `lr`."""

    def __init__(self, parameters):
        super().__init__(parameters, {"step_size": 0.01})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter.add_(parameter.grad.sign(), alpha=-group["step_size"])


@case
def rate_of_another_optimizer(device):
    model, other, before = Model(device), Model(device), math.inf
    schedule = torch.optim.lr_scheduler.StepLR(other.optimizer, 1, 0.1)
    optimizer, slower = model.optimizer, other.optimizer
    for _ in range(4):
        loss = model.step().item()
        if loss > before:
            for group in optimizer.param_groups:
                group["lr"] *= 0.5
        before = loss
        other.step()
        schedule.step()
        if slower.param_groups[0]["lr"] < 1e-3:
            break
    return other.steps


@case
def optimizer_without_a_rate(device):
    model, before = Model(device), math.inf
    other = SignDescent(torch.nn.Linear(8, 4).to(device).parameters())
    for _ in range(4):
        loss = model.step().item()
        if loss > before:
            for group in model.optimizer.param_groups:
                group["lr"] *= 0.5
        before = loss
        for group in other.param_groups:
            for parameter in group["params"]:
                parameter.grad = torch.ones_like(parameter)
        other.step()
    return model.steps


@case
def rate_that_is_halved(device):
    model, rate, before = Model(device), 0.1, math.inf
    for _ in range(4):
        loss = model.step().item()
        if loss > before * 0.99:
            rate *= 0.5
            for group in model.optimizer.param_groups:
                group["lr"] = rate
        before = loss
    print(rate)


@case
def rate_that_a_function_lowers(device):
    def lower(optimizer, factor):
        for group in optimizer.param_groups:
            group["lr"] = max(group["lr"] * factor, 1e-5)

    model, window = Model(device), []
    for _ in range(6):
        loss = model.step().item()
        window.append(loss)
        if len(window) >= 3 and window[-1] >= max(window[-3:]):
            lower(model.optimizer, 0.5)
            print(f'rate {model.optimizer.param_groups[0]["lr"]:.4f}')


@case
def rate_that_ends_training(device):
    def lower(optimizer, factor):
        for group in optimizer.param_groups:
            group["lr"] *= factor

    model, before = Model(device), math.inf
    for _ in range(6):
        loss = model.step().item()  # branch
        if loss > before:
            lower(model.optimizer, 0.1)
        before = loss
        if model.optimizer.param_groups[0]["lr"] < 0.02:  # branch
            break


@case
def rate_of_a_loop(device):
    model, rate, before = Model(device), 0.1, math.inf
    while rate > 0.01 and model.steps < 50:
        loss = model.step().item()  # branch
        if loss >= before * 0.99:
            rate /= 2
            for group in model.optimizer.param_groups:
                group["lr"] = rate
        before = loss


@case
def rate_that_is_asked_for_by_an_operator(device):
    model, before = Model(device), math.inf
    for _ in range(6):
        loss = model.step().item()
        if loss > before:
            for group in model.optimizer.param_groups:
                group["lr"] /= 10
        before = loss
        if max(map(operator.itemgetter("lr"), model.optimizer.param_groups)) < 0.02:  # branch
            break


@case
def rate_of_a_later_optimizer(device):
    first, before = Model(device), math.inf
    for _ in range(3):
        loss = first.step().item()  # branch
        if loss > before:
            for group in first.optimizer.param_groups:
                group["lr"] *= 0.5
        before = loss
    rate = first.optimizer.param_groups[0]["lr"]
    second = torch.optim.SGD(first.net.parameters(), lr=rate)
    second.step()
    if second.param_groups[0]["lr"] < 0.04:  # branch
        torch.zeros(8, device=device)
