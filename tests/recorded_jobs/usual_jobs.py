"""Jobs as people write them, each with what is true of its memory: what jobs.py puts together from
parts are variations of few programs, these are many, one of each. record.py runs them, too.
"""
from jobs import GROWTH, HEAD, KEPT, LATE, SMALL_GPU, STRANDED, Job
from usual_programs import FITTED, GPT_SGD, NET_SGD, TRAINED, images, language
from usual_training_jobs import TRAINING

JOBS = {
    **TRAINING,
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
