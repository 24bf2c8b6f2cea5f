"""Numbers, paths and records that are put into lists and sets where a score says so."""
import json
import os
import pathlib
import tempfile

import torch

from cases import case


def net_of(device):
    return torch.nn.Linear(8, 4).to(device)


def score_of(net, row):
    with torch.no_grad():
        return net(row.to(next(net.parameters()).device)).max()


@case
def steps_that_are_printed(device):
    net, high = net_of(device), []
    for step in range(5):
        if score_of(net, torch.randn(1, 8)).item() > 0.5:
            high.append(step)
    print(f"{len(high)} high scores: {high}")
    if high:
        print("the first at", high[0])


@case
def steps_that_a_function_prints(device):
    def show(steps):
        for step in steps:
            print("step", step)
        print(len(steps), "steps")

    net, high = net_of(device), set()
    for step in range(5):
        if score_of(net, torch.randn(1, 8)).item() > 0.5:
            high.add(step)
    show(high)


@case
def detections_in_a_file(device):
    net, found = net_of(device), []
    for image in range(4):
        scores, kinds = net(torch.randn(16, 8).to(device)).softmax(1).max(1)
        for score, kind in zip(scores.tolist(), kinds.tolist()):
            if score > 0.3:
                found.append({"image": image, "kind": kind, "score": round(score, 3)})
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "found.json"), "w") as file:
            json.dump(found, file)
    print(len(found), "detections")


@case
def paths_of_checkpoints(device):
    net, best = net_of(device), 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for _ in range(3):
            score = score_of(net, torch.randn(1, 8)).item()
            paths = [folder / "last.pt"]
            if score > best:
                best = score
                paths.append(folder / "best.pt")
            for path in paths:
                torch.save({"model": net.state_dict(), "score": score}, path)
    print(f"{best:.3f}")


@case
def rows_that_are_kept(device):
    net, rows, kept = net_of(device), torch.randn(64, 8), []
    for place in range(64):
        if score_of(net, rows[place:place + 1]).item() > 0.5:  # shape
            kept.append(place)
    return net(rows[kept].to(device)).dim()


@case
def steps_that_are_repeated(device):
    def repeat(steps):
        for _ in steps:
            torch.zeros(64, 64, device=device)

    net, high = net_of(device), []
    for step in range(6):
        if score_of(net, torch.randn(1, 8)).item() > 0.5:  # shape
            high.append(step)
    repeat(high)


@case
def size_of_what_was_kept(device):
    net, kept = net_of(device), set()
    for step in range(6):
        if score_of(net, torch.randn(1, 8)).item() > 0.5:  # shape
            kept.add(step)
    return torch.zeros(len(kept) + 1, 64, device=device).dim()


@case
def places_of_a_miner(device):
    class Miner:
        def __init__(self):
            self.places = []

        def look(self, place, score):
            if score > 0.5:  # branch
                self.places.append(place)

        def batch(self, rows):
            return torch.stack([rows[place] for place in self.places] or [rows[0]])

    net, rows, miner = net_of(device), torch.randn(64, 8), Miner()
    for place in range(64):
        miner.look(place, score_of(net, rows[place:place + 1]).item())
    return net(miner.batch(rows).to(device)).dim()


@case
def queue_that_drives(device):
    net, left = net_of(device), [0]
    while left and len(left) < 9:
        place = left.pop()
        torch.zeros(64, 64, device=device)
        if score_of(net, torch.randn(1, 8)).item() > 0.5:  # branch
            left.append(place + 1)
