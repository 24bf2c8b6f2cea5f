"""Jobs as people write them, each with what is true of its memory: what jobs.py puts together from
parts are variations of few programs, these are many, one of each. record.py runs them, too.
"""
from jobs import GROWTH, HEAD, KEPT, LATE, SMALL_GPU, STRANDED, Job

# A transformer that generates, too.
LANGUAGE = HEAD + '''

class Attention(nn.Module):
    def __init__(self, width=256, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x, cache=None):
        n, t, c = x.shape
        q, k, v = (y.view(n, t, self.heads, -1).transpose(1, 2)
                   for y in self.qkv(x).chunk(3, dim=-1))
        if cache is not None:
            if cache:
                k, v = torch.cat([cache["k"], k], 2), torch.cat([cache["v"], v], 2)
            cache["k"], cache["v"] = k, v
        scores = (q @ k.transpose(-2, -1) / 8).softmax(-1)
        return self.out((scores @ v).transpose(1, 2).reshape(n, t, c))


class Block(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                 nn.Linear(4 * width, width))

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm1(x), cache)
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, words=2048, width=256, layers=4):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.blocks = nn.ModuleList([Block(width) for _ in range(layers)])
        self.head = nn.Linear(width, words)

    def forward(self, tokens, caches=None):
        x = self.embedding(tokens)
        for i, block in enumerate(self.blocks):
            x = block(x, None if caches is None else caches[i])
        return self.head(x)


def batch(n=16, length=128):
    return torch.randint(0, 2048, (n, length), device="cuda")


def loss_of(model, tokens):
    logits = model(tokens[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


'''

IMAGES = HEAD + '''

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU())
        self.body = nn.Sequential(nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.BatchNorm2d(64),
                                  nn.ReLU(), nn.Conv2d(64, 64, 3, padding=1), nn.ReLU())
        self.head = nn.Linear(64, 100)

    def features(self, images):
        return self.body(self.stem(images)).mean((2, 3))

    def forward(self, images):
        return self.head(self.features(images))


def batch(n=64):
    return torch.randn(n, 3, 32, 32, device="cuda"), torch.randint(0, 100, (n,), device="cuda")


'''

FUNCTIONAL = '''

norms = [nn.LayerNorm(512).cuda() for _ in range(12)]
layers = [nn.Linear(512, 512).cuda() for _ in range(12)]


def run(x):
    for norm, layer in zip(norms, layers):
        y = layer(norm(x))
        x = x + F.gelu(y)
    return x


'''

TRAINED = '''
    tokens = batch()
    loss = loss_of(model, tokens)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
'''
FITTED = '''
    images, labels = batch()
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
'''


def language(before, loop, after="", steps=8):
    return f"{LANGUAGE}{before.strip()}\nfor step in range({steps}):{loop}\n{after}"


def images(before, loop, after="", steps=8):
    return f"{IMAGES}{before.strip()}\nfor step in range({steps}):{loop}\n{after}"


GPT_SGD = '''
model = GPT().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
'''
GPT_ADAMW = '''
model = GPT().cuda()
optimizer = torch.optim.AdamW(model.parameters())
'''
NET_SGD = '''
model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
'''

JOBS = {
    # ---- training, as it should be ----
    "clipped": ((), language(GPT_SGD + "norms = []", TRAINED.replace(
        "    optimizer.step()", "    norms.append(nn.utils.clip_grad_norm_(model.parameters(), 1.0))\n"
        "    optimizer.step()"))),
    "adamw": ((LATE,), language(GPT_ADAMW, TRAINED.replace("batch()", "batch(2)"))),
    "losses_after_backward": ((), language(GPT_SGD + "losses = []", TRAINED
                                           + "    losses.append(loss)\n")),
    "running_loss": ((), images(NET_SGD + "running = 0.0", FITTED + "    running += loss.detach()\n")),
    "ema_in_place": ((), images(NET_SGD + '''
import copy
average = copy.deepcopy(model).requires_grad_(False)
''', FITTED + '''
    with torch.no_grad():
        for mean, parameter in zip(average.parameters(), model.parameters()):
            mean.lerp_(parameter, 0.01)
''')),
    "swa": ((), images(NET_SGD + "averaged = torch.optim.swa_utils.AveragedModel(model)",
                       FITTED + "    averaged.update_parameters(model)\n")),
    "warm_up": ((), language(GPT_SGD + '''
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, (step + 1) / 4))
''', TRAINED.replace("batch()", "batch(4 if step < 3 else 16)") + "    schedule.step()\n")),
    "progressive_length": ((), language(GPT_SGD, TRAINED.replace(
        "batch()", "batch(16, 32 * (1 + step // 3))"), steps=9)),
    "profiled": ((), language(GPT_SGD + '''
from torch.profiler import profile, schedule
profiler = profile(schedule=schedule(wait=1, warmup=1, active=3), activities=[])
profiler.start()
''', TRAINED + "    profiler.step()\n", "profiler.stop()")),
    "prefetched": ((), images(NET_SGD + '''
stream = torch.cuda.Stream()


def prefetch():
    with torch.cuda.stream(stream):
        images, labels = torch.randn(64, 3, 32, 32), torch.randint(0, 100, (64,))
        return images.cuda(non_blocking=True), labels.cuda(non_blocking=True)


following = prefetch()
''', FITTED.replace("batch()", "following") .replace("    loss = ", '''    torch.cuda.current_stream().wait_stream(stream)
    following = prefetch()
    loss = ''', 1))),
    "loader": ((), images(NET_SGD + '''
data = torch.utils.data.TensorDataset(torch.randn(512, 3, 32, 32), torch.randint(0, 100, (512,)))
loader = torch.utils.data.DataLoader(data, batch_size=64, shuffle=True)
''', '''
    for images, labels in loader:
        images, labels = images.cuda(), labels.cuda()
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
''', steps=2)),
    "data_on_gpu": ((), images(NET_SGD + '''
data, targets = torch.randn(2048, 3, 32, 32, device="cuda"), torch.randint(0, 100, (2048,)).cuda()
''', FITTED.replace("batch()", "(lambda at: (data[at], targets[at]))(torch.randperm(2048)[:64])"))),
    "sanity_check_first": ((), images(NET_SGD + '''
with torch.no_grad():
    for _ in range(2):
        checked = model(batch(128)[0]).argmax(1)
''', FITTED)),
    "frozen_base": ((), images('''
model = Net().cuda()
for parameter in [*model.stem.parameters(), *model.body.parameters()]:
    parameter.requires_grad_(False)
optimizer = torch.optim.Adam(model.head.parameters())
''', FITTED)),
    "unfrozen_later": ((LATE,), language('''
model = GPT().cuda()
for parameter in model.parameters():
    parameter.requires_grad_(False)
model.head.requires_grad_(True)
optimizer = torch.optim.SGD(model.head.parameters(), lr=0.1)
''', '''
    if step == 5:
        model.requires_grad_(True)
        optimizer = torch.optim.AdamW(model.parameters())
''' + TRAINED.replace("batch()", "batch(2)"), steps=10)),
    "lora": ((), language('''
class LowRank(nn.Module):
    def __init__(self, base, rank=4):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


model = GPT().requires_grad_(False)
for block in model.blocks:
    block.attention.qkv = LowRank(block.attention.qkv)
model.cuda()
optimizer = torch.optim.AdamW(p for p in model.parameters() if p.requires_grad)
''', TRAINED)),
    "ensemble": ((LATE,), language('''
models = [GPT(layers=2).cuda() for _ in range(3)]
optimizers = [torch.optim.Adam(model.parameters()) for model in models]
''', '''
    tokens = batch(2)
    for model, optimizer in zip(models, optimizers):
        optimizer.zero_grad()
        loss_of(model, tokens).backward()
        optimizer.step()
''')),
    "accumulated_clipped_mixed": ((), language(GPT_SGD + 'scaler = torch.amp.GradScaler("cuda", init_scale=1.0)', '''
    for part in range(4):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = loss_of(model, batch(8)) / 4
        scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
''')),
    "checkpointed_blocks": ((), language(GPT_SGD.replace("GPT()", "Checkpointed()").replace(
        "model =", '''
from torch.utils.checkpoint import checkpoint


class Checkpointed(GPT):
    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=True)
        return self.head(x)


model =''', 1), TRAINED)),
    "gradient_penalty": ((), images('''
critic = Net().cuda()
optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
''', '''
    images = batch(32)[0].requires_grad_()
    score = critic(images).mean()
    slope, = torch.autograd.grad(score, images, create_graph=True)
    loss = score + (slope.flatten(1).norm(dim=1) - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
''')),
    "gan_of_adams": ((LATE,), HEAD + '''
generator = nn.Sequential(nn.Linear(64, 1024), nn.ReLU(), nn.Linear(1024, 3072)).cuda()
judge = nn.Sequential(nn.Linear(3072, 1024), nn.ReLU(), nn.Linear(1024, 1)).cuda()
for_generator = torch.optim.Adam(generator.parameters(), betas=(0.5, 0.999))
for_judge = torch.optim.Adam(judge.parameters(), betas=(0.5, 0.999))
for step in range(8):
    real = torch.randn(64, 3072, device="cuda")
    fake = generator(torch.randn(64, 64, device="cuda"))
    for_judge.zero_grad()
    loss = F.softplus(judge(fake.detach())).mean() + F.softplus(-judge(real)).mean()
    loss.backward()
    for_judge.step()
    for_generator.zero_grad()
    F.softplus(-judge(fake)).mean().backward()
    for_generator.step()
'''),
    "preferences": ((LATE,), language(GPT_ADAMW + '''
import copy
reference = copy.deepcopy(model).requires_grad_(False)


def log_likelihood(model, tokens):
    logits = model(tokens[:, :-1]).log_softmax(-1)
    return logits.gather(2, tokens[:, 1:, None]).sum((1, 2))
''', '''
    chosen, rejected = batch(2, 32), batch(2, 32)
    with torch.no_grad():
        base = log_likelihood(reference, chosen) - log_likelihood(reference, rejected)
    margin = log_likelihood(model, chosen) - log_likelihood(model, rejected)
    loss = -F.logsigmoid(0.1 * (margin - base)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
''')),
    "distilled_with_graph": ((), images(NET_SGD + "teacher = Net().cuda()", '''
    images, _ = batch()
    wanted = teacher(images).softmax(1)
    loss = F.kl_div(model(images).log_softmax(1), wanted, reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    del wanted, loss
''')),
    "queue_in_place": ((), images(NET_SGD + 'queue = torch.randn(65536, 64, device="cuda")', '''
    images, _ = batch()
    found = F.normalize(model.features(images))
    loss = (found @ queue.t()).logsumexp(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    queue[64 * step:64 * step + 64] = found.detach()
''')),
    "ring_of_experience": ((), images(NET_SGD + '''
states = torch.zeros(4096, 3, 32, 32, device="cuda")
actions = torch.zeros(4096, dtype=torch.long, device="cuda")
''', '''
    with torch.no_grad():
        seen = torch.randn(64, 3, 32, 32, device="cuda")
        at = slice(64 * step, 64 * step + 64)
        states[at], actions[at] = seen, model(seen).argmax(1)
    drawn = torch.randint(0, 64 * (step + 1), (64,), device="cuda")
    loss = F.cross_entropy(model(states[drawn]), actions[drawn])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
''')),
    "short_experience": ((), images(NET_SGD + '''
import collections
experience = collections.deque(maxlen=4)
''', '''
    experience.append(batch(256))
    for images, labels in list(experience):
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
''', steps=12)),
    "recurrent_detached": ((), HEAD + '''
model = nn.LSTM(256, 512, batch_first=True).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
state = None
for step in range(8):
    output, state = model(torch.randn(16, 64, 256, device="cuda"), state)
    state = tuple(part.detach() for part in state)
    loss = output.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
'''),
    "features_of_hooks": ((), images(NET_SGD + '''
features = {}
for name, part in model.named_children():
    part.register_forward_hook(lambda part, x, y, name=name: features.__setitem__(name, y))
''', FITTED)),
    "layers_in_a_function": ((), HEAD + FUNCTIONAL + '''
loss = run(torch.randn(64, 512, device="cuda")).square().mean()
loss.backward()
'''),
    "layers_in_a_function_forward": ((), HEAD + FUNCTIONAL + '''
output = run(torch.randn(64, 512, device="cuda"))
'''),
    "blocks_in_a_function": ((), LANGUAGE + '''
model = GPT(layers=12).cuda()


def run(tokens):
    x = model.embedding(tokens)
    for block in model.blocks:
        x = x * 1.01
        x = x + block(x)
    return model.head(x)


run(batch()).square().mean().backward()
'''),
    "state_from_the_start": ((), HEAD + '''
model = nn.Sequential(nn.Linear(3072, 1024), nn.ReLU(), nn.Linear(1024, 10)).cuda()
optimizer = torch.optim.Adagrad(model.parameters())
for step in range(8):
    labels = torch.randint(0, 10, (64,), device="cuda")
    loss = F.cross_entropy(model(torch.randn(64, 3072, device="cuda")), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
'''),
    "trials_one_after_the_other": ((), HEAD + '''

def trial(width, rate):
    model = nn.Sequential(nn.Linear(512, width), nn.ReLU(), nn.Linear(width, 10)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), rate)
    for step in range(5):
        labels = torch.randint(0, 10, (256,), device="cuda")
        loss = F.cross_entropy(model(torch.randn(256, 512, device="cuda")), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


scores = [trial(width, rate) for width in (512, 1024, 2048) for rate in (1e-3, 1e-4)]
'''),
    "layers_of_a_loop_on_two_gpus": ((), HEAD + '''
layers = [nn.Linear(1024, 1024).to(f"cuda:{int(i > 9)}") for i in range(13)]
optimizer = torch.optim.SGD([p for layer in layers for p in layer.parameters()], lr=0.1)
for step in range(8):
    x = torch.randn(64, 1024)
    for layer in layers:
        x = layer(x.to(layer.weight.device))
    loss = x.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
'''),
    # ---- inference, as it should be ----
    "generation": ((), language("model = GPT().cuda().eval()", '''
    with torch.no_grad():
        tokens = batch(8, 64)
        caches = [{} for _ in model.blocks]
        for _ in range(16):
            tokens = model(tokens, caches)[:, -1:].argmax(-1)
''', steps=4)),
    "served": ((), images("model = Net().cuda().eval()", '''
    with torch.inference_mode():
        answer = model(torch.randn(1 + 37 * step % 64, 3, 32, 32, device="cuda")).softmax(1).cpu()
''', steps=12)),
    "embedded_data": ((), images("model = Net().cuda().eval()\nall_features = []", '''
    found = []
    with torch.no_grad():
        for _ in range(6):
            found.append(model.features(batch(256)[0]).repeat(1, 64))
        all_features.append(torch.cat(found).cpu())
''', steps=5)),
    "denoised": ((), images("model = nn.Conv2d(3, 3, 3, padding=1).cuda()\nx = batch(256)[0]", '''
    with torch.no_grad():
        x = x - 0.1 * model(x)
''', steps=12)),
    # ---- what keeps memory ----
    "features_kept_by_hooks": ((GROWTH,), images(NET_SGD + '''
features = []
model.body.register_forward_hook(lambda part, x, y: features.append(y))
''', FITTED)),
    "evaluated_and_kept": ((GROWTH,), images(NET_SGD + "predictions = []", FITTED + '''
    with torch.no_grad():
        for _ in range(3):
            predictions.append(model.stem(batch(128)[0]))
''')),
    "snapshots_of_weights": ((GROWTH,), language(GPT_SGD + "best = []", TRAINED.replace(
        "batch()", "batch(4)") + '''
    best.append({name: value.clone() for name, value in model.state_dict().items()})
''')),
    "recurrent_not_detached": ((GROWTH,), HEAD + '''

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = nn.GRU(256, 512, batch_first=True)
        self.head = nn.Linear(512, 64)

    def forward(self, x, state):
        x, state = self.cells(x, state)
        return self.head(x), state


model = Net().cuda().eval()
state = None
for step in range(8):
    x = torch.randn(16, 64, 256, device="cuda")
    output, state = model(x, state)
    score = output.square().mean().item()
'''),
    "growing_experience": ((GROWTH,), images(NET_SGD + "experience = []", '''
    with torch.no_grad():
        seen = torch.randn(256, 3, 32, 32, device="cuda")
        experience.append((seen, model(seen).argmax(1)))
    images, labels = experience[step // 2]
    loss = F.cross_entropy(model(images[:64]), labels[:64])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
''')),
    "caches_kept": ((GROWTH,), language("model = GPT().cuda().eval()\nconversations = []", '''
    with torch.no_grad():
        tokens = batch(8, 64)
        caches = [{} for _ in model.blocks]
        conversations.append(caches)
        for _ in range(8):
            tokens = model(tokens, caches)[:, -1:].argmax(-1)
''', steps=6)),
    "intermediates_kept": ((GROWTH,), images(
        "model = nn.Sequential(nn.Conv2d(3, 3, 3, padding=1)).cuda()\nx = batch(256)[0]\npictures = [x]", '''
    with torch.no_grad():
        noise = model(x)
        x = x - 0.1 * noise
        pictures.append(x)
''', steps=12)),
    "errors_kept": ((GROWTH,), images(NET_SGD + '''
errors = []


def train_step(step):
    images, labels = batch()
    hidden = model.features(images)
    if step >= 0:
        raise ValueError("labels of another data set")
''', '''
    try:
        train_step(step)
    except ValueError as error:
        errors.append(error)
''')),
    "answers_with_graph": ((GROWTH,), images("model = Net().cuda().eval()\nanswers = []", '''
    answers.append(model(batch()[0]))
''', steps=6)),
    "validated_with_graph": ((KEPT,), images("model = Net().cuda().eval()\nright = 0", '''
    images, labels = batch(256)
    logits = model(images)
    right += (logits.argmax(1) == labels).sum().item()
''')),
    "retained_for_two_losses": ((KEPT,), images(NET_SGD, '''
    images, labels = batch(256)
    hidden = model.features(images)
    logits = model.head(hidden)
    loss = F.cross_entropy(logits, labels)
    aside = hidden.square().mean()
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    aside.backward(retain_graph=True)
    optimizer.step()
''')),
}

LIMITED = {
    "state_does_not_fit": ((LATE,), HEAD + '''
free, _ = torch.cuda.mem_get_info()
rest = torch.empty(free - (560 << 20), dtype=torch.uint8, device="cuda")
model = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(12)]).cuda()
optimizer = torch.optim.Adam(model.parameters(), foreach=False)
for step in range(8):
    loss = model(torch.randn(8, 2048, device="cuda")).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
'''),
    "batch_does_not_fit": ((), images(NET_SGD, FITTED.replace("batch()", "batch(16384)"))),
    "losses_until_the_end": ((GROWTH,), images(NET_SGD + "validation = 0", FITTED.replace(
        "batch()", "batch(256)") + '''
    images, labels = batch(256)
    validation = validation + F.cross_entropy(model(images), labels)
''', steps=400)),
    "second_epoch_keeps": ((GROWTH,), images(NET_SGD + '''
def evaluate():
    return [model.stem(batch(128)[0]) for _ in range(400)]
''', FITTED, "evaluate()")),
    "odd_sizes": ((STRANDED,), HEAD + '''
free, _ = torch.cuda.mem_get_info()
rest = torch.empty(free - (620 << 20), dtype=torch.uint8, device="cuda")
kept = []
for length in (37, 61, 29, 53, 41, 67, 31, 59):
    large = torch.empty(length << 20, dtype=torch.uint8, device="cuda")
    kept.append(torch.empty(3 << 20, dtype=torch.uint8, device="cuda"))
    del large
    torch.cuda.synchronize()
work = [torch.empty(70 << 20, dtype=torch.uint8, device="cuda") for _ in range(40)]
'''),
}


def all_jobs():
    for jobs, limit in ((JOBS, ""), (LIMITED, SMALL_GPU)):
        for name, (truths, source) in jobs.items():
            for marked in (True, False):
                yield Job(f"usual_{name}_{'marked' if marked else 'unmarked'}", source, truths,
                          marked=marked, limit=limit)
