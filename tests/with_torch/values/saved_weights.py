"""What programs do with the best weights so far, and with learning rates: which of it decides anything."""
import copy
import json
import math
import os
import shutil
import tempfile

import torch

from cases import case


class Model(torch.nn.Linear):
    def __init__(self, device):
        super().__init__(64, 128, device=device)

    def losses(self, count=4):
        for _ in range(count):
            yield self(torch.randn(8, 64).to(self.weight.device)).pow(2).mean()


# ---- only saved ----


@case
def best_weights_in_a_file(device):
    model, best = Model(device), math.inf
    path = os.path.join(tempfile.mkdtemp(), "best.pt")
    for epoch, loss in enumerate(model.losses()):
        value = loss.item()
        if value < best:
            best = value
            state = {"epoch": epoch, "model": model.state_dict(), "best": best}
            torch.save(state, path)
            print(f"saved {epoch}")
        else:
            print("not better")
    model.load_state_dict(torch.load(path)["model"])


def save_checkpoint(state, is_best, folder):
    path = os.path.join(folder, "last.pt")
    torch.save(state, path)
    if is_best:
        shutil.copyfile(path, os.path.join(folder, "best.pt"))


@case
def best_copy_of_a_file(device):
    model, best, folder = Model(device), torch.tensor(math.inf, device=device), tempfile.mkdtemp()
    for loss in model.losses():
        score = loss.detach()
        is_best = score < best
        best = torch.minimum(score, best)
        save_checkpoint({"model": model.state_dict(), "best": best}, is_best, folder)


@case
def best_loss_of_a_dict(device):
    model, best, folder = Model(device), 1e9, tempfile.mkdtemp()
    for step in range(3):
        losses = torch.zeros(4)
        for index, loss in enumerate(model.losses()):
            losses[index] = loss.item()
        found = {"valid": losses.mean()}
        if found["valid"] < best:
            best = found["valid"]
            if step > 0:
                torch.save({"model": model.state_dict(), "best": best}, os.path.join(folder, "best.pt"))
    print(f"best {best:.3f}")


@torch.no_grad()
def evaluate(model, device):
    shares = []
    for _ in range(3):
        right = model(torch.randn(8, 64).to(device)).argmax(1) == torch.arange(8).to(device)
        shares.append(int(right.sum()) / 8)
    return shares


@case
def best_of_three_shares(device):
    model = Model(device)
    best = tested = 0
    for epoch in range(3):
        train, valid, test = evaluate(model, device)
        if valid > best:
            best = valid
            tested = test
        print(f"{epoch} {train:.2f} {valid:.2f} {tested:.2f}")


@case
def rate_that_is_printed(device):
    model = Model(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
    for loss in model.losses():
        loss.backward()
        optimizer.step()
        schedule.step(loss.item())
        print(json.dumps({"lr": optimizer.param_groups[0]["lr"]}), schedule.get_last_lr())


@case
def rate_of_a_loop_of_its_own(device):
    model, rate, best = Model(device), 0.1, None
    for loss in model.losses():
        value = loss.item()
        if not best or value < best:
            with open(os.path.join(tempfile.mkdtemp(), "best.pt"), "wb") as file:
                torch.save(model.state_dict(), file)
            best = value
        else:
            rate /= 4
        loss.backward()
        for parameter in model.parameters():
            parameter.data.add_(parameter.grad, alpha=-rate)


# ---- decide ----


def loss_of_last_step(device):
    return torch.nn.Linear(8, 1).to(device)(torch.randn(64, 8).to(device)).square().mean()


@case
def training_that_stops(device):
    class Stopping:
        """As programs copy it."""

        def __init__(self, patience=2):
            self.patience, self.counter, self.stop = patience, 0, False
            self.best, self.path = None, os.path.join(tempfile.mkdtemp(), "best.pt")

        def __call__(self, loss, model):
            score = -loss
            if self.best is None:
                self.best = score
                self.save(loss, model)
            elif score < self.best:
                self.counter += 1
                print(f"{self.counter} of {self.patience}")
                if self.counter >= self.patience:
                    self.stop = True
            else:
                self.best = score
                self.save(loss, model)
                self.counter = 0

        def save(self, loss, model):
            print(f"saves at {loss:.3f}")
            torch.save(model.state_dict(), self.path)

    model, stopping = Model(device), Stopping()
    for loss in model.losses(8):
        stopping(loss.item(), model)  # shape
        if stopping.stop:
            break


@case
def loss_in_a_file_of_functions(device):
    def save(loss):
        with open(path, "w") as file:
            json.dump({"lowest": loss}, file)

    def load():
        with open(path) as file:
            return json.load(file)

    path = os.path.join(tempfile.mkdtemp(), "metrics.json")
    save(loss_of_last_step(device).item())  # shape
    return torch.zeros(64 if load()["lowest"] > 0.5 else 8, device=device).dim()


@case
def best_weights_in_memory(device):
    model, best, weights = Model(device), math.inf, None
    for loss in model.losses():
        value = loss.item()  # branch
        if value < best:
            best = value
            weights = copy.deepcopy(model.state_dict())
    return len(weights)


@case
def rate_that_stops(device):
    model = Model(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
    for loss in model.losses(8):
        schedule.step(loss.item())
        if optimizer.param_groups[0]["lr"] < 0.05:  # branch
            break


def keep(states, state):
    states.append(copy.deepcopy(state))


@case
def weights_that_a_function_keeps(device):
    model, best, kept = Model(device), math.inf, []
    for loss in model.losses():
        value = loss.item()  # branch
        if value < best:
            best = value
            keep(kept, model.state_dict())
    return len(kept)


@case
def sum_of_a_branch(device):
    model, hidden = Model(device), torch.randn(64, 64).to(device)
    for loss in model.losses():
        if loss.item() < 1:  # branch
            both = hidden + hidden
            print(both.shape)


@case
def process_that_is_told(device):
    model = Model(device)
    for loss in model.losses(2):
        if loss.item() > 1e9:  # branch
            os.kill(os.getpid(), 15)


class Stopping:
    def __init__(self):
        self.lowest_yet, self.weights_on_host = math.inf, None

    def __call__(self, score, net):
        if score < self.lowest_yet:
            self.lowest_yet = score
            self.weights_on_host = {name: one.detach().cpu().clone() for name, one in net.state_dict().items()}


@case
def weights_that_are_kept_on_the_host(device):
    net = torch.nn.Linear(8, 4).to(device)
    stopping = Stopping()
    for _ in range(3):
        stopping(net(torch.randn(16, 8).to(device)).square().mean().item(), net)
    if stopping.weights_on_host is not None:
        net.load_state_dict(stopping.weights_on_host)
    print(f"lowest: {stopping.lowest_yet:.4f}")


@case
def weights_on_the_host_that_decide(device):
    net, lowest, copied_weights = torch.nn.Linear(8, 4).to(device), 0.2, None
    for _ in range(3):
        score = net(torch.randn(16, 8).to(device)).square().mean().item()  # branch
        if score < lowest:
            copied_weights = [one.detach().cpu() for one in net.parameters()]
    if copied_weights is not None:
        torch.zeros(64, device=device)


@case
def weights_that_are_kept_on_the_gpu(device):
    net, lowest, cloned_weights = torch.nn.Linear(8, 4).to(device), math.inf, None
    for _ in range(3):
        score = net(torch.randn(16, 8).to(device)).square().mean().item()  # branch
        if score < lowest:
            lowest = score
            cloned_weights = {name: one.clone() for name, one in net.state_dict().items()}
    if cloned_weights is not None:
        net.load_state_dict(cloned_weights)


@case
def number_of_weights_on_the_host(device):
    net, copied_ones = torch.nn.Linear(8, 4).to(device), {}
    score = net(torch.randn(16, 8).to(device)).square().mean().item()  # shape
    if score > 0.2:
        copied_ones = {name: one.cpu() for name, one in net.state_dict().items()}
    return torch.zeros(len(copied_ones) + 1, 8, device=device).dim()
