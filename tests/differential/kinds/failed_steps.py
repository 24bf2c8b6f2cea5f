"""Steps of training that fail anywhere: something else takes memory, so that what does not fit may be any request."""
from random_program import Program

ROWS = ("nn.Sequential(nn.Linear({n}, {n}), nn.ReLU(), nn.Linear({n}, {n}))", "nn.Linear({n}, {m})",
        "nn.Sequential(nn.LayerNorm({n}), nn.Linear({n}, {m}), nn.GELU(), nn.Linear({m}, {n}))",
        "nn.Sequential(nn.Linear({n}, {m}), nn.BatchNorm1d({m}), nn.PReLU(), nn.Linear({m}, 10))",
        "nn.Sequential(nn.Linear({n}, {n}, bias=False), nn.RMSNorm({n}), nn.SiLU(), nn.Dropout(0.2), nn.Linear({n}, 4))")
IMAGES = ("nn.Sequential(nn.Conv2d(8, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.ConvTranspose2d(64, 16, 2, 2))",
          "nn.Sequential(nn.Conv2d(8, 128, 5, 2), nn.GroupNorm(8, 128), nn.SiLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(512, 30))",
          "nn.Sequential(nn.Conv2d(8, 8, 3, groups=8), nn.Conv2d(8, 256, 1), nn.Hardswish(), nn.MaxPool2d(2))",
          "nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(8, 96, 3), nn.InstanceNorm2d(96, affine=True), nn.LeakyReLU(0.1))")
SEQUENCES = ("nn.Sequential(nn.Embedding(5000, 64), nn.TransformerEncoderLayer(64, 4, 256, batch_first=True), nn.Linear(64, 5000))",
             "nn.Sequential(nn.Embedding(9000, 96), nn.LayerNorm(96), nn.Linear(96, 300))",
             "nn.Sequential(nn.Embedding(3000, 128), nn.Flatten(), nn.Linear(2560, 200), nn.Tanh(), nn.Linear(200, 20))")
RECURRENT = ("nn.LSTM(64, {h}, 2)", "nn.GRU(64, {h})", "nn.LSTM(64, {h}, bidirectional=True)", "nn.RNN(64, {h}, 2, dropout=0.1)")
OPTIMIZERS = {"SGD": ("", "momentum=0.9", "momentum=0.9, nesterov=True", "momentum=0.9, weight_decay=0.1", "momentum=0.5, dampening=0.1"),
              "Adam": ("", "amsgrad=True", "weight_decay=0.1"), "AdamW": ("", "amsgrad=True"), "Adagrad": ("", "weight_decay=0.1"),
              "Adadelta": ("",), "RMSprop": ("", "centered=True", "momentum=0.9"), "NAdam": ("",), "RAdam": ("",), "Adamax": ("",),
              "ASGD": ("",), "Rprop": ("",)}
CLIPS = ("nn.utils.clip_grad_norm_(model.parameters(), 1.0)", "nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=False)",
         "nn.utils.clip_grad_value_(model.parameters(), 0.5)", "nn.utils.clip_grad_norm_(model.parameters(), 1.0, norm_type=1.0)")
LOSSES = ("loss = y.pow(2).mean()", "loss = y.sum()", "loss = F.smooth_l1_loss(y, torch.zeros_like(y))",
          "loss = F.mse_loss(y, torch.ones_like(y))", "loss = y.float().logsumexp(-1).mean()")
SCALER = 'scaler = torch.amp.GradScaler("cuda", init_scale=256.0)'
RECOVERIES = ("torch.cuda.empty_cache()", "opt.zero_grad()", "x = None", "y = None", "hog = None", "loss = None",
              "opt.zero_grad(set_to_none=False)")


def optimizer(rng):
    name = rng.choice(list(OPTIMIZERS))
    options = ["lr=0.01", rng.choice(OPTIMIZERS[name])]
    way = rng.random()
    if way < 0.25 and name != "ASGD":  # whose way depends on a value that the virtual GPU has not computed
        options.append("foreach=False")
    elif way < 0.5 and name in ("SGD", "Adam", "AdamW"):
        options.append("fused=True")
    return f"torch.optim.{name}(model.parameters(), {', '.join(option for option in options if option)})"


def model_and_input(rng):
    """The model, the shape of what it gets, and how it is called."""
    kind = rng.choice(("rows", "rows", "images", "sequences", "recurrent", "attention"))
    if kind == "rows":
        width = rng.choice((256, 512, 700))
        model = rng.choice(ROWS).format(n=width, m=rng.choice((64, 2 * width)))
        return model, f'torch.randn({rng.choice((16, 200, 3000))}, {width}, device="cuda")', "y = model(x)"
    if kind == "images":
        size = rng.choice((16, 25, 32))
        return rng.choice(IMAGES), f'torch.randn({rng.choice((2, 8, 24))}, 8, {size}, {size}, device="cuda")', "y = model(x)"
    if kind == "sequences":
        return rng.choice(SEQUENCES), f'torch.randint(0, 3000, ({rng.choice((4, 16, 64))}, 20), device="cuda")', "y = model(x)"
    if kind == "recurrent":
        model = rng.choice(RECURRENT).format(h=rng.choice((64, 200)))
        return model, f'torch.randn({rng.choice((7, 30))}, {rng.choice((8, 60))}, 64, device="cuda")', "y = model(x)[0]"
    return ("nn.MultiheadAttention(256, 4, batch_first=True)",
            f'torch.randn({rng.choice((4, 20))}, {rng.choice((16, 50))}, 256, device="cuda")', "y = model(x, x, x)[0]")


def step_that_may_fail(rng, has_scaler):
    """The statements of one step."""
    maker = "opt.zero_grad()" if rng.random() < 0.6 else None
    lines = [maker, None, rng.choice(LOSSES)]
    if has_scaler:
        lines += ["scaler.scale(loss).backward()"]
        if rng.random() < 0.5:
            lines += ["scaler.unscale_(opt)", rng.choice(CLIPS)]
        lines += ["scaler.step(opt)", "scaler.update()"]
    else:
        lines += ["loss.backward()"]
        if rng.random() < 0.4:
            lines.append(rng.choice(CLIPS))
        lines.append("opt.step()")
    return lines


def failing_steps(rng):
    """A model, its optimizer, and steps beside something that takes any share of the memory."""
    program = Program(rng)
    if rng.random() < 0.25:
        program.add('torch.cuda.memory._set_allocator_settings("expandable_segments:True")')
    fraction = rng.choice((0.0006, 0.0008, 0.001, 0.0015))
    program.add(f"torch.cuda.set_per_process_memory_fraction({fraction})")
    program.add("hog = None")
    program.add("x = None")  # in the order in which they go at the end
    program.add("y = None")
    program.add("loss = None")
    model, made, call = model_and_input(rng)
    program.add(f'model = {model}.to("cuda")')
    has_scaler = rng.random() < 0.2
    program.add(f"opt = {optimizer(rng)}")
    if has_scaler:
        program.add(SCALER)
    limit = int(fraction * 80e9)
    for _ in range(rng.randint(2, 6)):
        body = [f'hog = torch.empty({rng.randint(0, limit)}, dtype=torch.uint8, device="cuda")' if rng.random() < 0.7 else "hog = None"]
        lines = step_that_may_fail(rng, has_scaler)
        lines[1] = f"x = {made}"
        forward = f'with torch.autocast("cuda", dtype=torch.float16): {call}' if has_scaler else call
        lines.insert(2, forward)
        body += [line for line in lines if line]
        handler = ['mark("failed")', *rng.sample(RECOVERIES, rng.randint(0, 2)), 'mark("handled")']
        if has_scaler:  # that of a step that failed after unscaling refuses the next one
            handler.append(SCALER)
        program.attempt(body, handler)
        program.add('mark("caught")')
        if rng.random() < 0.3:
            program.add(rng.choice(("torch.cuda.empty_cache()", "hog = None", "opt.zero_grad()")))
        program.add('mark("tried")')
    return program.lines
