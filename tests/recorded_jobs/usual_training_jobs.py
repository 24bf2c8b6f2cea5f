"""Those of usual_jobs.py that train, as they should."""
from jobs import HEAD, LATE
from usual_programs import (FITTED, FUNCTIONAL, GPT_ADAMW, GPT_SGD, LANGUAGE, NET_SGD, TRAINED, images,
                            language)

TRAINING = {
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
}
