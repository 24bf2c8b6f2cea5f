"""Small training and inference programs, each with what is true of its memory.

A job is the source of one file, as somebody would write it, put together from a model, an
optimizer and a loop; `truths` are the kinds of findings that its history shows (KINDS), none for
an ordinary job. record.py runs them.
"""
import itertools
from dataclasses import dataclass

KINDS = ("growth per step", "a graph kept alive across steps", "optimizer state appearing late",
         "stranded split segments", "imbalance")
GROWTH, KEPT, LATE, STRANDED, IMBALANCE = KINDS


# What the jobs that run out of memory have, with the context of an l4-24g in it.
SMALL_GPU = "1350MiB"


@dataclass
class Job:
    name: str
    source: str
    truths: tuple = ()
    marked: bool = True  # with PyTorch's annotations of optimizer steps; before 2.6 there were none
    gpus: int = 1
    limit: str = ""  # of the memory of a GPU


MODELS = {
    "mlp": '''
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 1024),
                                    nn.ReLU(), nn.Linear(1024, 10))

    def forward(self, x):
        return self.layers(x)


def batch(n=1024):
    return torch.randn(n, 512), torch.randint(0, 10, (n,))
''',
    "deep": '''
class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Layer(256) for _ in range(4)])
        self.head = nn.Linear(256, 10)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def batch(n=1024):
    return torch.randn(n, 256), torch.randint(0, 10, (n,))
''',
    "attention": '''
class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = (y.view(n, t, self.heads, -1).transpose(1, 2)
                   for y in self.qkv(x).chunk(3, dim=-1))
        scores = q @ k.transpose(-2, -1) / 8
        return x + self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(n, t, c))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(4096, 256)
        self.blocks = nn.Sequential(*[Block(256, 4) for _ in range(3)])
        self.head = nn.Linear(256, 10)

    def forward(self, tokens):
        return self.head(self.blocks(self.embedding(tokens)).mean(1))


def batch(n=16):
    return torch.randint(0, 4096, (n, 128)), torch.randint(0, 10, (n,))
''',
    "convolutions": '''
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(inplace=True),
            nn.MaxPool2d(2), nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU())
        self.head = nn.Linear(64 * 16 * 16, 128)
        self.classes = nn.Linear(128, 10)

    def forward(self, images):
        x = self.features(images).flatten(1)
        return self.classes(torch.relu(self.head(x)))


def batch(n=32):
    return torch.randn(n, 3, 32, 32), torch.randint(0, 10, (n,))
''',
}

OPTIMIZERS = {
    "sgd": "torch.optim.SGD(model.parameters(), lr=0.1)",
    "momentum": "torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)",
    "adam": "torch.optim.Adam(model.parameters())",
    "adamw": "torch.optim.AdamW(model.parameters(), foreach=False)",
    "rmsprop": "torch.optim.RMSprop(model.parameters())",
}

HEAD = '''import torch
import torch.nn.functional as F
from torch import nn
'''


def indented(text, by):
    return "\n".join(" " * by + line if line else line for line in text.strip("\n").split("\n"))


def in_script(before, body, steps, after):
    return f"{before}\nfor step in range({steps}):\n{indented(body, 4)}\n{after}\n"


def in_function(before, body, steps, after):
    return (f"def main():\n{indented(before, 4)}\n    for step in range({steps}):\n"
            f"{indented(body, 8)}\n{indented(after, 4) if after.strip() else ''}\n"
            f"    return locals()\n\n\nkept = main()\n")


def in_trainer(before, body, steps, after):
    """Each step in a method of its own; what lives longer is in globals."""
    names = "global x, y, output, loss, model, optimizer"
    return (f"{before}\n\n\nclass Trainer:\n    def step(self, step):\n        {names}\n"
            f"{indented(body, 8)}\n\n    def fit(self):\n        for step in range({steps}):\n"
            f"            self.step(step)\n\n\nTrainer().fit()\n{after}\n")


LOOPS = {"script": in_script, "function": in_function, "trainer": in_trainer}


def program(model, optimizer, loop, body, steps=5, before="", after=""):
    setup = "model = Net().cuda()\n"
    if optimizer:
        setup += f"optimizer = {OPTIMIZERS[optimizer]}\n"
    return HEAD + MODELS[model] + "\n\n" + LOOPS[loop](setup + before, body, steps, after)


TAKE = "x, y = (one.cuda() for one in batch())\n"
TRAIN = TAKE + '''
output = model(x)
loss = F.cross_entropy(output, y)
optimizer.zero_grad()
loss.backward()
optimizer.step()
'''
ONLY_FORWARD = TAKE + '''
output = model(x)
loss = F.cross_entropy(output, y)
'''


# ---- what is true of them ------------------------------------------------------------------------


def growing():
    bodies = {
        # The pitfalls of sums and lists that keep graphs, and of results that are kept.
        "validation": ("total = 0\n", ONLY_FORWARD + "total = total + loss\n", None),
        "losses": ("losses = []\n", TAKE + '''
output = model(x)
loss = F.cross_entropy(output, y)
optimizer.zero_grad()
loss.backward(retain_graph=True)
optimizer.step()
losses.append(loss)
''', "sgd"),
        "outputs": ("outputs = []\n", '''
with torch.no_grad():
    x = batch()[0].cuda()
    found = model(x)
    outputs.append(found.softmax(1).repeat(1, 512))
''', None),
        "gradients": ("seen = []\n", TRAIN
                      + "seen.append([p.grad.clone() for p in model.parameters()])\n", "sgd"),
    }
    for (kind, (before, body, optimizer)), model, loop in itertools.product(
            bodies.items(), MODELS, ("script", "function", "trainer")):
        if loop == "trainer":
            body = body.replace("total = total + loss", "totals.append(loss)")
            before = before.replace("total = 0", "totals = []")
        yield Job(f"growth_{kind}_{model}_{loop}",
                  program(model, optimizer, loop, body, 6, before), (GROWTH,),
                  marked=model in ("mlp", "attention"))


LARGE = {"mlp": 8192, "deep": 2048, "attention": 64, "convolutions": 64}  # rows of a batch


def keeping():
    bodies = {
        "last_two": ("recent = collections.deque(maxlen=2)\n", ONLY_FORWARD
                     + "recent.append(loss)\n", None),
        "last_three": ("recent = collections.deque(maxlen=3)\n", TAKE + '''
output = model(x)
loss = F.cross_entropy(output, y)
optimizer.zero_grad()
loss.backward(retain_graph=True)
optimizer.step()
recent.append(loss)
''', "sgd"),
        "result": ("", ONLY_FORWARD, None),
        "retained": ("", TRAIN.replace("backward()", "backward(retain_graph=True)"), "sgd"),
    }
    for (kind, (before, body, optimizer)), model, loop in itertools.product(
            bodies.items(), MODELS, LOOPS):
        yield Job(f"kept_{kind}_{model}_{loop}", "import collections\n" + program(
            model, optimizer, loop, body.replace("batch()", f"batch({LARGE[model]})"), 8, before),
            (KEPT,),
            marked=model in ("deep", "convolutions"))


def late():
    for model, optimizer, loop, steps in itertools.product(
            MODELS, ("momentum", "adam", "adamw", "rmsprop"), ("script", "function"), (1, 4)):
        yield Job(f"late_{optimizer}_{model}_{loop}_{steps}",
                  program(model, optimizer, loop, TRAIN.replace("batch()", "batch(8)"), steps),
                  (LATE,), marked=loop == "script")


def stranded():
    """Small blocks that stay lie between large ones that go: then one that fits nowhere."""
    for large, count, keep, last in itertools.product((24, 40, 64), (6, 9, 12), (2, 4), (2, 3, 4)):
        yield Job(f"stranded_{large}_{count}_{keep}_{last}", HEAD + f'''

def features(n, kept):
    for _ in range(n):
        large = torch.empty({large} << 20, dtype=torch.uint8, device="cuda")
        small = torch.empty({keep} << 20, dtype=torch.uint8, device="cuda")
        kept.append(small)
        yield large


def main():
    kept = []
    free, _ = torch.cuda.mem_get_info()
    model = torch.empty(free - ({count * (large + keep) + large} << 20), dtype=torch.uint8,
                        device="cuda")
    pool = torch.empty({count * (large + keep)} << 20, dtype=torch.uint8, device="cuda")
    del pool
    maps = list(features({count}, kept))
    del maps
    return model, kept, torch.empty({last * large} << 20, dtype=torch.uint8, device="cuda")


main()
''', (STRANDED,), marked=False, limit=SMALL_GPU)


def imbalanced():
    """Replicas that get the same, and one GPU that holds the rest, too."""
    extras = {
        "table": "table = [torch.zeros(6 << 20, device=0) for _ in range(2)]\n",
        "average": "averages = [[p.detach().clone() for p in model.parameters()]\n"
                   "            for _ in range(12)]\n"}
    for model, loop, (extra, before), rows in itertools.product(
            MODELS, ("script", "function"), extras.items(), (4, 6, 8)):
        body = f'''
losses = []
for replica in replicas:
    x, y = (one.to(replica.gpu) for one in batch({rows}))
    losses.append(F.cross_entropy(replica(x), y))
    losses[-1].backward()
'''
        before += ("replicas = [model, Net().to(1)]\n"
                   "for gpu, replica in enumerate(replicas):\n    replica.gpu = gpu\n")
        yield Job(f"imbalance_{extra}_{model}_{loop}_{rows}",
                  program(model, None, loop, body, 3, before), (IMBALANCE,),
                  marked=False, gpus=2)


def evaluating():
    """Training that fits; an evaluation behind it keeps what it finds, until memory runs out. The
    optimizer's state has nothing to do with it."""
    keep = """
def evaluate(model):
    outputs = []
    with torch.no_grad():
        for _ in range(1000):
            found = model(batch(8)[0].cuda()).softmax(1)
            outputs.append(found.repeat((32 << 18) // found.numel(), *[1] * (found.dim() - 1)))


"""
    for model, loop, optimizer in itertools.product(
            MODELS, ("script", "function"), ("adam", "adamw")):
        source = program(model, optimizer, loop, TRAIN.replace("batch()", "batch(8)"), 5,
                         after="evaluate(model)")
        setup = "def main()" if loop == "function" else "model = Net()"
        yield Job(f"evaluation_{optimizer}_{model}_{loop}",
                  source.replace(setup, keep + setup, 1), (GROWTH,),
                  marked=optimizer == "adam", limit=SMALL_GPU)


def growing_raggedly():
    """Losses of a validation that are kept as tensors; no batch is as large as the one before."""
    for model, loop in itertools.product(MODELS, ("script", "function")):
        rows = LARGE[model] // 16
        validated = TRAIN.replace("batch()", f"batch({rows} * (8, 24, 2, 32, 16, 4)[step % 6])") + f"""
small = [one.cuda() for one in batch({rows} * (4, 1, 3, 2, 2)[step % 5])]
losses.append(F.cross_entropy(model(small[0]), small[1]))
"""
        yield Job(f"growth_ragged_{model}_{loop}",
                  program(model, "sgd", loop, validated, 12, "losses = []\n"), (GROWTH,),
                  marked=loop == "script")


# ---- ordinary jobs, of which nothing is to be said ------------------------------------------------

CHECKPOINTED = TRAIN.replace("model(x)", "checkpoint(model, x, use_reentrant=False)")
ACCUMULATED = '''
for part in range(4):
    x, y = (one.cuda() for one in batch())
    loss = F.cross_entropy(model(x), y) / 4
    loss.backward()
optimizer.step()
optimizer.zero_grad()
'''
SUMMED = '''
losses = []
for part in range(4):
    x, y = (one.cuda() for one in batch(64))
    losses.append(F.cross_entropy(model(x), y))
sum(losses).backward()
del losses
optimizer.step()
optimizer.zero_grad()
'''
EVALUATED = TRAIN + '''
if step % 2:
    model.eval()
    with torch.no_grad():
        right = 0
        for part in range(3):
            x, y = (one.cuda() for one in batch())
            right += (model(x).argmax(1) == y).sum()
    model.train()
'''
INFERENCE = '''
with torch.no_grad():
    x, y = (one.cuda() for one in batch())
    found = model(x).argmax(1)
'''
RAGGED = TRAIN.replace("batch()", "batch((8, 24, 12, 32, 16, 20)[step % 6])")
MIXED = '''
x, y = (one.cuda() for one in batch())
with torch.autocast("cuda", dtype=torch.float16):
    loss = F.cross_entropy(model(x), y)
optimizer.zero_grad()
scaler.scale(loss).backward()
scaler.step(optimizer)
scaler.update()
'''
TWO_MODELS = '''
x, y = (one.cuda() for one in batch())
with torch.no_grad():
    wanted = teacher(x).softmax(1)
loss = F.kl_div(model(x).log_softmax(1), wanted, reduction="batchmean")
optimizer.zero_grad()
loss.backward()
optimizer.step()
'''
CLOSED = '''
x, y = (one.cuda() for one in batch())
loss = F.cross_entropy(model(x), y)
loss.backward()
with torch.no_grad():
    for p in model.parameters():
        p -= 0.1 * p.grad
        p.grad = None
'''
SCALARS = TRAIN + "history.append(loss.detach())\n"

ORDINARY = {  # name: what comes before the loop, the loop's body, the optimizer, steps
    "single": ("", TRAIN, "sgd", 1),
    "training": ("", TRAIN, "sgd", 6),
    "checkpointing": ("from torch.utils.checkpoint import checkpoint\n", CHECKPOINTED, "sgd", 5),
    "accumulation": ("", ACCUMULATED, "sgd", 5),
    "summed_parts": ("", SUMMED, "sgd", 4),
    "evaluation": ("", EVALUATED, "sgd", 6),
    "inference": ("", INFERENCE, None, 6),
    "ragged": ("", RAGGED, "sgd", 7),
    "mixed_precision": ("scaler = torch.amp.GradScaler(\"cuda\", init_scale=1.0)\n", MIXED, "sgd",
                        5),
    "two_models": ("teacher = Net().cuda()\n", TWO_MODELS, "sgd", 5),
    "by_hand": ("", CLOSED, None, 5),
    "scalars": ("history = []\n", SCALARS, "sgd", 6),
}

GENERATION = HEAD + '''

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(256, 768)
        self.out = nn.Linear(256, 256)

    def forward(self, x, past):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        {remember}
        return self.out((q @ keys.transpose(1, 2)).softmax(-1) @ values)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(1000, 256)
        self.layers = nn.ModuleList([Layer() for _ in range({layers})])
        self.head = nn.Linear(256, 1000)

    def forward(self, tokens, past):
        x = self.embedding(tokens)
        for layer, one in zip(self.layers, past):
            x = x + layer(x, one)
        return self.head(x[:, -1:])


def generate(model, tokens, new):
    past = [[] for _ in model.layers]
    with torch.no_grad():
        for _ in range(new):
            tokens = model(tokens, past).argmax(-1)
    return past


model = Model().cuda()
past = generate(model, torch.randint(0, 1000, ({rows}, 64)).cuda(), 16)
'''
REMEMBER = {
    "list": """past.append((k, v))
        keys = torch.cat([one for one, _ in past], 1)
        values = torch.cat([one for _, one in past], 1)""",
    "copy": """if past:
            k, v = torch.cat([past[0], k], 1), torch.cat([past[1], v], 1)
        past[:] = keys, values = k, v""",
}

ADVERSARIAL = HEAD + '''{model}

generator = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, {features})).cuda()
judge = nn.Sequential(nn.Linear({features}, 256), nn.ReLU(), nn.Linear(256, 1)).cuda()
for_generator = torch.optim.SGD(generator.parameters(), lr=0.1)
for_judge = torch.optim.SGD(judge.parameters(), lr=0.1)
for step in range(6):
    real = torch.randn({rows}, {features}).cuda()
    fake = generator(torch.randn({rows}, 64, device="cuda"))
    loss = F.softplus(judge(fake.detach())).mean() + F.softplus(-judge(real)).mean()
    for_judge.zero_grad()
    loss.backward()
    for_judge.step()
    loss = F.softplus(-judge(fake)).mean()
    for_generator.zero_grad()
    loss.backward()
    for_generator.step()
'''

LAYERS = HEAD + '''
weights = [torch.randn(512, 512, device="cuda", requires_grad=True) for _ in range({layers})]


def run(x):
    for weight in weights:
        x = F.gelu(x @ weight) + x
    return x


x = torch.randn({rows}, 512, device="cuda")
loss = run(x).square().mean()
{end}
'''


def ordinary():
    for (kind, (before, body, optimizer, steps)), model, loop in itertools.product(
            ORDINARY.items(), MODELS, ("script", "function")):
        yield Job(f"ordinary_{kind}_{model}_{loop}",
                  program(model, optimizer, loop, body, steps, before),
                  marked=(loop == "script") != (model in ("deep", "attention")))
    for how, layers, rows in itertools.product(REMEMBER, (1, 3, 6), (2, 8)):
        yield Job(f"generation_{how}_{layers}_{rows}", GENERATION.format(
            remember=REMEMBER[how], layers=layers, rows=rows), marked=False)
    for features, rows, marked in itertools.product((128, 512), (64, 512), (True, False)):
        yield Job(f"gan_{features}_{rows}_{marked}".lower(), ADVERSARIAL.format(
            model="", features=features, rows=rows), marked=marked)
    for layers, rows, end in itertools.product((4, 22), (64, 512), ("", "loss.backward()")):
        yield Job(f"layers_{layers}_{rows}_{'trained' if end else 'forward'}", LAYERS.format(
            layers=layers, rows=rows, end=end), marked=False)


def all_jobs():
    return [*growing(), *keeping(), *late(), *stranded(), *imbalanced(), *evaluating(), *growing_raggedly(), *ordinary()]
