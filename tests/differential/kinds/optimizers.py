"""Optimizers with all of their options, schedules, clipped gradients, and states that are kept and loaded."""
from random_program import Program

# Each with options of which one is taken. What ASGD does depends on numbers that it reads.
OPTIMIZERS = {
    "SGD": ("momentum=0.9", "weight_decay=0.1", "maximize=True", "momentum=0.9, dampening=0.1", "momentum=0.9, nesterov=True"),
    "Adam": ("weight_decay=0.1", "amsgrad=True", "maximize=True", "betas=(0.8, 0.9)"),
    "AdamW": ("weight_decay=0.1", "amsgrad=True", "maximize=True", "eps=1e-6"),
    "NAdam": ("weight_decay=0.1", "decoupled_weight_decay=True, weight_decay=0.1", "momentum_decay=0.01"),
    "RAdam": ("weight_decay=0.1", "decoupled_weight_decay=True, weight_decay=0.1"),
    "RMSprop": ("centered=True", "momentum=0.9", "weight_decay=0.1", "centered=True, momentum=0.9"),
    "Adagrad": ("lr_decay=0.1", "weight_decay=0.1", "initial_accumulator_value=0.1", "maximize=True"),
    "Adadelta": ("rho=0.8", "weight_decay=0.1", "maximize=True"),
    "Adamax": ("weight_decay=0.1", "maximize=True"),
    "Rprop": ("etas=(0.4, 1.3)", "maximize=True"),
    "Adafactor": ("weight_decay=0.1", "beta2_decay=-0.5", "maximize=True"),
}
FUSED = ("SGD", "Adam", "AdamW")
LAYERS = ("nn.Linear(8, 8)", "nn.Linear(8, 8, bias=False)", "nn.LayerNorm(8)", "nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 8)",
          "nn.Linear(8, 1), nn.Linear(1, 8)", "nn.BatchNorm1d(8)", "nn.PReLU()")
SCHEDULES = ("StepLR(opt, 1)", "CosineAnnealingLR(opt, 3)", "ExponentialLR(opt, 0.9)", "LinearLR(opt)",
             "OneCycleLR(opt, max_lr=0.2, total_steps=10, cycle_momentum=False)", "LambdaLR(opt, lambda step: 0.5)")
CLIPS = ("torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)", "torch.nn.utils.clip_grad_value_(model.parameters(), 0.5)",
         "norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, norm_type=1.0)",
         'norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, norm_type=float("inf"))',
         "norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=False)")


def optimizer(rng):
    name = rng.choice(list(OPTIMIZERS))
    options = ["lr=0.1"]
    if rng.random() < 0.7:
        options.append(rng.choice(OPTIMIZERS[name]))
    way = rng.random()
    if name == "Adafactor":
        way = 1.0
    if way < 0.25:
        options.append("foreach=False")
    elif way < 0.4 and name in FUSED:
        options.append("fused=True")
    elif way < 0.55:
        options.append("foreach=True")
    parameters = rng.choice(("model.parameters()", "model.parameters()", "[p for p in model.parameters() if p.requires_grad]",
                             '[{"params": model[0].parameters()}, {"params": model[1].parameters(), "lr": 0.01}]'))
    return f"torch.optim.{name}({parameters}, {', '.join(options)})"


def step(program, dtype):
    rng = program.rng
    for _ in range(rng.choice((1, 1, 2))):
        program.add(f'x = torch.randn(16, 8, device="cuda"{dtype})')
        program.add("model(x).pow(2).mean().backward()")
    if rng.random() < 0.3:
        program.add(rng.choice(CLIPS))
    program.add("opt.step()")


def optimized_program(rng):
    """Steps of an optimizer, what goes on between them, and a state that is loaded."""
    program = Program(rng)
    dtype = rng.choice(("", "", "", "bfloat16", "float16", "float64"))
    cast = f".to(torch.{dtype})" if dtype else ""
    named = f", dtype=torch.{dtype}" if dtype else ""
    layers = ", ".join(rng.choice(LAYERS) for _ in range(rng.randint(2, 4)))
    program.add(f'model = nn.Sequential(nn.Linear(8, 8), {layers}).to("cuda"){cast}')
    if rng.random() < 0.15:
        program.add("model[0].weight.requires_grad_(False)")
    made = optimizer(rng)
    program.add(f"opt = {made}")
    # A schedule holds its optimizer in a circle, whose parts Python lets go in an order of its own.
    has_schedule = rng.random() < 0.3 and "[{" not in made
    if has_schedule:
        program.add(f"schedule = torch.optim.lr_scheduler.{rng.choice(SCHEDULES)}")
    for number in range(rng.randint(1, 4)):
        step(program, named)
        if has_schedule:
            program.add("schedule.step()")
        program.add(rng.choice(("opt.zero_grad()", "opt.zero_grad()", "opt.zero_grad(set_to_none=False)", "model.zero_grad()",
                                "x = None")))
        if number == 0 and rng.random() < 0.2:
            program.add("import copy")
            program.add("state = opt.state_dict()")
            program.add(rng.choice(("opt.load_state_dict(state)", "opt.load_state_dict(copy.deepcopy(state))")))
            program.add("del state")
    return program.lines
