"""Values that a program writes to files and buffers, and reads again."""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile

import numpy
import torch

from cases import case


def outputs(device):
    return (torch.randn(32, 16).to(device) @ torch.randn(16, 4).to(device)).detach()


def rows(count, device):
    return torch.zeros(int(count) + 1, 8, device=device).dim()


class Folder:
    """A temporary one."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()

    def path(self, name):
        return os.path.join(self.folder.name, name)


@case
def array_in_a_file(device):
    folder = Folder()
    path = folder.path("rows.npy")
    numpy.save(path, outputs(device).argmax(1).cpu().numpy())  # shape
    return rows((numpy.load(path) == 1).sum(), device)


@case
def arrays_in_a_file(device):
    path = io.BytesIO()
    numpy.savez(path, kinds=outputs(device).argmax(1).cpu().numpy())  # shape
    path.seek(0)
    return rows(len(numpy.flatnonzero(numpy.load(path)["kinds"] == 1)), device)


@case
def bytes_of_an_array(device):
    folder = Folder()
    path = folder.path("rows.bin")
    outputs(device).argmax(1).cpu().numpy().tofile(path)  # shape
    return rows(numpy.fromfile(path, numpy.int64).sum(), device)


@case
def mapped_file(device):
    folder = Folder()
    path = folder.path("rows.map")
    written = numpy.memmap(path, dtype=numpy.float32, mode="w+", shape=(32, 4))
    written[:] = outputs(device).cpu().numpy()  # shape
    read = numpy.memmap(path, dtype=numpy.float32, mode="r", shape=(32, 4))
    return rows((read[:, 0] > 0).sum(), device)


@case
def buffer_of_bytes(device):
    buffer = io.BytesIO()
    buffer.write(outputs(device).argmax(1).cpu().numpy().tobytes())  # shape
    return rows(numpy.frombuffer(buffer.getvalue(), numpy.int64).sum(), device)


@case
def text_in_a_buffer(device):
    buffer = io.StringIO()
    print(outputs(device).argmax(1).sum().item(), file=buffer)  # shape
    return rows(int(buffer.getvalue()), device)


@case
def text_in_a_file(device):
    folder = Folder()
    path = folder.path("best.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"rows": outputs(device).argmax(1).sum().item()}, file)  # shape
    with open(path, encoding="utf-8") as file:
        return rows(json.load(file)["rows"], device)


@case
def history_in_a_checkpoint(device):
    folder, history = Folder(), []
    path = folder.path("last.pt")
    for _ in range(4):
        history.append(outputs(device).pow(2).mean().item())  # shape
    torch.save({"history": history}, path)
    read = torch.load(path, weights_only=True)
    return rows(read["history"].index(min(read["history"])), device)


@case
def log_and_settings(device):
    folder = Folder()
    settings, log = folder.path("settings.json"), folder.path("log.jsonl")
    with open(settings, "w", encoding="utf-8") as file:
        json.dump({"steps": 2}, file)
    with open(settings, encoding="utf-8") as file:
        steps = json.load(file)["steps"]
    with open(log, "a", encoding="utf-8") as file:
        for step in range(steps):
            file.write(json.dumps({"step": step, "loss": outputs(device).mean().item()}) + "\n")


@case
def argument_of_another_process(device):
    count = outputs(device).argmax(1).sum().item()  # branch
    done = subprocess.run([sys.executable, "-S", "-c", "import sys; print(sys.argv[1])", str(count)],
                          capture_output=True, text=True, check=True)
    return rows(done.stdout, device)


# ---- arrays ----


@case
def array_that_is_copied_to(device):
    kept = numpy.zeros((32, 4), numpy.float32)
    numpy.copyto(kept, outputs(device).cpu().numpy())  # shape
    return rows((kept > 0).sum(), device)


@case
def counts_in_an_array(device):
    counts = numpy.zeros(4, int)
    numpy.add.at(counts, outputs(device).argmax(1).cpu().numpy(), 1)  # shape
    return rows((counts > 8).sum(), device)


@case
def flat_array(device):
    kept = numpy.zeros((32, 4))
    kept.flat[:] = outputs(device).reshape(-1).cpu().numpy()  # shape
    return rows((kept > 0).sum(), device)


@case
def losses_in_a_table_of_text(device):
    path = os.path.join(tempfile.gettempdir(), f"losses_{os.getpid()}.csv")
    with open(path, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["place", "loss"])
        for place, loss in enumerate(outputs(device)[:, 0].cpu().numpy()):  # shape
            table.writerow([place, float(loss)])
    with open(path) as file:
        rows = list(csv.DictReader(file))
    os.remove(path)
    losses = numpy.array([float(row["loss"]) for row in rows])
    hard = numpy.flatnonzero(losses > numpy.percentile(losses, 80))
    return torch.zeros(len(hard) + 1, 8, device=device).dim()


@case
def dict_by_two_names(device):
    class Hub:
        def __init__(self):
            self.wishes = {}

    def ask(loss):
        wishes = hub.wishes
        if loss > 0.5:  # shape
            wishes["rows"] = 64

    def rows():
        wanted = hub.wishes.pop("rows", None)
        return 8 if wanted is None else wanted

    hub = Hub()
    net = torch.nn.Linear(8, 1).to(device)
    for _ in range(3):
        loss = net(torch.randn(rows(), 8).to(device)).square().mean()
        ask(loss.item())


@case
def rest_of_a_buffer(device):
    buffer = io.BytesIO(b"abcdefgh" * 8)
    buffer.seek(int(torch.nn.Linear(8, 16).to(device)(torch.randn(8).to(device)).argmax()))  # shape
    return torch.zeros(len(buffer.read()), 8, device=device).dim()
