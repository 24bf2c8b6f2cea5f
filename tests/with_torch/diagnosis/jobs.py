"""Small jobs with a known cause: what is wrong stands in one line, behind which `#|` has the line that
a fix would have in its place; `#` alone is the line of a job that has no such fix.

A job is made of a template and the ways to write it: at the top level or in a function, with one model
or another. check_diagnosis.py runs them."""
import itertools
from dataclasses import dataclass, field

from fixes import OF_TEMPLATES, fixed

LIMIT = "1GiB"
EXPANDABLE = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}


@dataclass
class Job:
    name: str
    causes: tuple  # that may be named; empty: none may be
    source: str
    fixed: str = ""
    lines: tuple = ()  # that may be named: numbers, or "file:number"
    options: tuple = ("--limit", LIMIT)
    environment: dict = field(default_factory=dict)
    fixed_environment: dict = field(default_factory=dict)  # where the remedy is a setting
    files: dict = field(default_factory=dict)  # beside the script: path -> text
    fixed_files: dict = field(default_factory=dict)


MODELS = {
    "mlp": ("nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), "
            "nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 64))", "512", "64"),
    "deep": ("nn.Sequential(*[nn.Sequential(nn.Linear(256, 256), nn.GELU()) for _ in range(10)], "
             "nn.Linear(256, 16))", "256", "16"),
    "norm": ("nn.Sequential(nn.LayerNorm(384), nn.Linear(384, 768), nn.Tanh(), nn.LayerNorm(768), "
             "nn.Linear(768, 384), nn.Tanh(), nn.Linear(384, 32))", "384", "32"),
}

START = '''import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = {model}.cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)


def batch(n=4096):
    return torch.randn(n, {width}, device="cuda"), torch.randn(n, {classes}, device="cuda")


'''

TRAINING_STEP = '''        x, y = batch()
        loss = F.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
'''

# name: (causes, body of main)
GROWING = {
    "losses_for_a_plot": '''
    losses = []
    for step in range(4000):
        x, y = batch()
        loss = F.mse_loss(net(x), y)
        losses.append(loss)  #| losses.append(loss.item())
''',
    "summed_loss": '''
    total = 0
    for step in range(4000):
        x, y = batch()
        loss = F.mse_loss(net(x), y)
        total += loss  #| total += loss.item()
''',
    "outputs_with_graphs": '''
    outputs = []
    for step in range(4000):
        x, y = batch()
        out = net(x)
        outputs.append(out)  #| outputs.append(out.detach().cpu())
''',
    "outputs_without_graphs": '''
    outputs = []
    with torch.no_grad():
        for step in range(40000):
            x, y = batch()
            out = net(x)
            outputs.append(out)  #| outputs.append(out.cpu())
''',
    "dictionary_of_outputs": '''
    results = {}
    for step in range(4000):
        x, y = batch()
        out = net(x).sum(1)
        results[step] = out  #| results[step] = out.detach().cpu()
''',
    "predictions_concatenated": '''
    predictions = torch.zeros(0, {classes}, device="cuda")
    for step in range(4000):
        x, y = batch()
        predictions = torch.cat([predictions, net(x)])  #| predictions = torch.cat([predictions.cpu(), net(x).detach().cpu()])
''',
    "hidden_state": '''
    state = torch.zeros(4096, {width}, device="cuda")
    weight = torch.randn({width}, {width}, device="cuda", requires_grad=True)
    for step in range(4000):
        x, y = batch()
        state = torch.tanh(x @ weight + state)  #| state = torch.tanh(x @ weight + state).detach()
''',
    "running_mean": '''
    mean = torch.zeros((), device="cuda")
    for step in range(4000):
        x, y = batch()
        loss = F.mse_loss(net(x), y)
        mean = 0.9 * mean + 0.1 * loss  #| mean = 0.9 * mean + 0.1 * loss.item()
''',
    "trained_losses": '''
    history = []
    for step in range(4000):
        x, y = batch()
        loss = F.mse_loss(net(x), y)
        penalty = net(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(penalty)  #| history.append(penalty.item())
''',
    "exceptions_kept": '''
    errors = []

    def attempt(step):
        x, y = batch()
        out = net(x)
        raise ValueError(step)

    for step in range(4000):
        try:
            attempt(step)
        except ValueError as error:
            errors.append(error)  #| errors.append(str(error))
''',
    "cache_of_shapes": '''
    cache = {}
    for step in range(4000):
        n = 16384 + step
        if n not in cache:
            cache[n] = torch.ones(n, {width}, device="cuda")  #| cache[n] = torch.ones(n, {width})
        x, y = batch(64)
        net(x)
''',
    "key_value_cache": '''
    keys = []
    with torch.no_grad():
        for token in range(40000):
            x, y = batch(2048)
            keys.append(x @ torch.ones({width}, {width}, device="cuda"))  #| keys = [x @ torch.ones({width}, {width}, device="cuda")]
            net(x)
''',
}

NO_GRADIENT = {
    "validate": '''
def train():
    net.train()
    for step in range(6):
''' + TRAINING_STEP + '''

def validate():
    net.eval()
    for step in range(6):
        x, y = batch({rows})
        out = net(x)  #| out = torch.no_grad()(net)(x)
        F.mse_loss(out, y).item()


for epoch in range(2):
    train()
    validate()
''',
    "evaluate_class": '''
class Trainer:
    def fit(self):
        for epoch in range(2):
            net.train()
            for step in range(5):
                x, y = batch()
                loss = F.mse_loss(net(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            self.evaluate()

    def evaluate(self):
        net.eval()
        total = 0.0
        for step in range(5):
            x, y = batch({rows})
            total += F.mse_loss(net(x), y).item()  #| total += F.mse_loss(torch.no_grad()(net)(x), y).item()
        return total


Trainer().fit()
''',
    "inference": '''
def serve():
    net.eval()
    for request in range(6):
        x, y = batch({rows})
        answer = net(x)  #| answer = torch.no_grad()(net)(x)
        answer.argmax(1).cpu()


serve()
''',
}

TWICE = {
    "checkpoint": '''import torch
import torch.nn as nn

net = nn.Sequential(*[nn.Linear({n}, {n}) for _ in range({layers})])
torch.save({{"model": net.state_dict()}}, "checkpoint.pt")
net = net.cuda()
checkpoint = torch.load("checkpoint.pt", map_location="cuda")  #| checkpoint = torch.load("checkpoint.pt", map_location="cpu")
net.load_state_dict(checkpoint["model"])
kept = []
for step in range(4000):
    x = torch.randn(256, {n}, device="cuda")
    net(x).mean().backward()
    {tail}
''',
    "copy": '''import copy

import torch
import torch.nn as nn

net = nn.Sequential(*[nn.Linear({n}, {n}) for _ in range({layers})]).cuda()
average = copy.deepcopy(net)  #| average = copy.deepcopy(net).cpu()
for step in range(20):
    x = torch.randn(256, {n}, device="cuda")
    net(x).mean().backward()
    {tail}
''',
}

OTHERS = {
    # name: (causes, source, options)
    "graph_pools": (("private pools",), '''import torch
graphs = []
x = torch.randn({n}, 1024, device="cuda")


def work(a):
    return torch.stack([a * i for i in range(20)]).sum(0)


work(x)
for size in range(400):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = work(x)
    graphs.append((graph, out))
''', ("--limit", "2GiB")),
    "large_request": (("large request",), '''import torch
small = [torch.ones(1 << 20, device="cuda") for _ in range(8)]
big = torch.empty({n} << 20, dtype=torch.uint8, device="cuda")  #
''', ("--limit", "1GiB")),
    "fraction": (("fraction",), '''import torch
torch.cuda.set_per_process_memory_fraction(0.{n})
kept = []
for step in range(400):
    kept.append(torch.empty(16 << 20, dtype=torch.uint8, device="cuda"))
''', ("--limit", "4GiB")),
    "nothing_freed": (("kept", "full", "growth"), '''import torch
kept = []
while True:
    kept.append(torch.empty({n} << 20, dtype=torch.uint8, device="cuda"))  #
''', ("--limit", "1GiB")),
    "fragmented": (("fragmented", "stranded split segments"), '''import torch
tensors = [torch.empty(9 << 20, dtype=torch.uint8, device="cuda") for _ in range(48)]
del tensors[::2]
x = torch.empty({n} << 20, dtype=torch.uint8, device="cuda")
''', ("--limit", "1GiB")),
    "batch_too_large": (("full", "large request"), START + '''
for step in range(3):
    x, y = batch({n} * 1024)
    loss = F.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
''', ("--limit", "1GiB")),
}

FINE = {
    "training": '''
    for step in range(12):
''' + TRAINING_STEP,
    "evaluation_without_gradients": '''
    for epoch in range(3):
        net.train()
        for step in range(4):
            x, y = batch()
            loss = F.mse_loss(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        net.eval()
        with torch.no_grad():
            for step in range(4):
                x, y = batch(4096)
                F.mse_loss(net(x), y).item()
''',
    "accumulation": '''
    for step in range(6):
        optimizer.zero_grad()
        for part in range(4):
            x, y = batch()
            (F.mse_loss(net(x), y) / 4).backward()
        optimizer.step()
''',
    "numbers_kept": '''
    losses = []
    for step in range(12):
        x, y = batch()
        loss = F.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
''',
    "adam": '''
    adam = torch.optim.Adam(net.parameters())
    for step in range(12):
        x, y = batch()
        loss = F.mse_loss(net(x), y)
        adam.zero_grad()
        loss.backward()
        adam.step()
''',
}


def in_function(body):
    return f"def main():{body}\n\nmain()\n"


def at_top(body):
    return "\n".join(line[4:] if line.startswith("    ") else line for line in body.splitlines()) + "\n"


def fill(text, **values):
    for name, value in values.items():
        text = text.replace("{" + name + "}", str(value))
    return text


def made(name, causes, source, options=("--limit", LIMIT), needs_fix=True):
    lines, fixed = [], []
    for number, line in enumerate(source.splitlines(), 1):
        _, mark, other = line.partition("#|")
        if mark:
            lines.append(number)
            indent = line[: len(line) - len(line.lstrip())]
            fixed.append(indent + other.strip())
        else:
            if line.rstrip().endswith("#"):
                lines.append(number)
            fixed.append(line)
    has_fix = "#|" in source and needs_fix
    plain = "\n".join(line.partition("#|")[0].rstrip() for line in source.splitlines()) + "\n"
    return Job(name, causes, plain, "\n".join(fixed) + "\n" if has_fix else "", tuple(lines), options)


def jobs():
    found = []
    for (name, body), (model, (layers, width, classes)), (way, write) in itertools.product(
            GROWING.items(), MODELS.items(), (("function", in_function), ("script", at_top))):
        source = fill(START + write(body), model=layers, width=width, classes=classes)
        found.append(made(f"growth_{name}_{model}_{way}", ("growth", "kept"), source))
    for (name, body), (model, (layers, width, classes)) in itertools.product(
            NO_GRADIENT.items(), MODELS.items()):
        source = fill(START + body, model=layers, width=width, classes=classes, rows=8192)
        found.append(made(f"no_grad_{name}_{model}", ("without no_grad",), source, ("--limit", "8GiB")))
    for (name, body), (n, layers) in itertools.product(TWICE.items(), ((512, 24), (768, 12), (1024, 8))):
        source = fill(body.replace("{{", "{").replace("}}", "}"), n=n, layers=layers, tail="net.zero_grad()")
        found.append(made(f"twice_{name}_{n}", ("twice",), source.replace("4000", "20"), ("--limit", "8GiB")))
    sizes = {"graph_pools": (512, 1024, 2048), "large_request": (600, 800, 900), "fraction": (2, 3, 5),
             "nothing_freed": (5, 17, 33), "fragmented": (110, 120), "batch_too_large": (32, 64, 128)}
    for name, (causes, body, options) in OTHERS.items():
        for n in sizes[name]:
            layers, width, classes = MODELS["mlp"]
            source = fill(body, n=n, model=layers, width=width, classes=classes)
            job = made(f"{name}_{n}", causes, source, options)
            job.fixed = fixed(name, job.source, OF_TEMPLATES)
            if name == "fragmented":
                job.fixed_environment = EXPANDABLE
            found.append(job)
    for (name, body), (model, (layers, width, classes)), (way, write) in itertools.product(
            FINE.items(), MODELS.items(), (("function", in_function), ("script", at_top))):
        source = fill(START + write(body), model=layers, width=width, classes=classes)
        found.append(made(f"fine_{name}_{model}_{way}", (), source, ("--limit", "8GiB")))
    return found


if __name__ == "__main__":
    for job in jobs():
        compile(job.source, job.name, "exec")
        if job.fixed:
            compile(job.fixed, job.name, "exec")
        print(job.name, job.causes, job.lines)
