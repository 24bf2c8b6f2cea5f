"""Models with and without a graph, and steps of their optimizers."""
from random_program import Program

LAYERS = ("nn.Linear(8, 8)", "nn.ReLU()", "nn.GELU()", "nn.Dropout(0.5)", "nn.LayerNorm(8)",
          "nn.Tanh()", "nn.SiLU()", "nn.Linear(8, 8, bias=False)", "nn.Softmax(dim=-1)")


def modes_program(rng):
    """Parts of a model with and without a graph, and recomputed."""
    program = Program(rng)
    program.add("from torch.utils.checkpoint import checkpoint")
    for number in range(3):
        layers = ", ".join(rng.choice(LAYERS) for _ in range(rng.randint(1, 3)))
        program.add(f'm{number} = nn.Sequential(nn.Linear(8, 8), {layers}).to("cuda")')
    grad = rng.choice(("", ", requires_grad=True"))
    program.add(f'h = torch.randn({rng.choice((1, 4, 64))}, 8, device="cuda"{grad})')
    for _ in range(rng.randint(2, 5)):
        model = f"m{rng.randrange(3)}"
        program.add(rng.choice((
            f"h = {model}(h)",
            f"h = checkpoint({model}, h, use_reentrant=False)",
            f"h = checkpoint({model}, h, use_reentrant=True)",
            f"with torch.no_grad(): n = {model}(h)",
            f"{model}.eval()",
            "h = h.detach()",
            f"h = h + {model}(h)")))
    program.add("loss = h.pow(2).mean()")
    program.add("loss.backward()")
    return program.lines


OPTIMIZERS = ("SGD({p}, lr=0.1)", "SGD({p}, lr=0.1, momentum=0.9)", "Adam({p}, lr=0.1)",
              "AdamW({p}, lr=0.1, weight_decay=0.1)", "RMSprop({p}, lr=0.1)", "Adagrad({p}, lr=0.1)",
              "Adam({p}, lr=0.1, foreach=False)", "SGD({p}, lr=0.1, momentum=0.9, nesterov=True)",
              "AdamW({p}, lr=0.1, amsgrad=True)", "Adamax({p}, lr=0.1)")

CLOSURE = """def closure():
    opt.zero_grad({})
    loss = m1(m0(x)).pow(2).mean()
    loss.backward()
    return loss"""


def add_lbfgs(program, rng):
    """Steps of LBFGS, which no comparison of numbers ends."""
    parameters = rng.choice(("m0.parameters()", "[*m0.parameters(), *m1.parameters()]"))
    options = f"lr=0.1, max_iter={rng.randint(1, 4)}, tolerance_change=0"
    options += rng.choice(("", ", history_size=2", ", max_eval=3", ", history_size=1, max_eval=7"))
    options += rng.choice(("", "", ', line_search_fn="strong_wolfe"'))
    program.add(f"opt = torch.optim.LBFGS({parameters}, {options})")
    program.add('x = torch.randn(16, 8, device="cuda")')
    program.add(CLOSURE.format(rng.choice(("", "", "set_to_none=False"))))
    for _ in range(rng.randint(1, 3)):
        program.add(rng.choice(("opt.step(closure)", "loss = opt.step(closure)")))
    return program.lines


def training_program(rng):
    """Steps of a model by an optimizer, of one group or of two."""
    program = Program(rng)
    for number in range(2):
        layers = ", ".join(rng.choice(LAYERS) for _ in range(rng.randint(1, 2)))
        program.add(f'm{number} = nn.Sequential(nn.Linear(8, 8), {layers}).to("cuda")')
    if rng.random() < 0.1:
        return add_lbfgs(program, rng)
    groups = rng.choice((
        "m0.parameters()", "[*m0.parameters(), *m1.parameters()]",
        '[{"params": m0.parameters()}, {"params": m1.parameters(), "lr": 0.01}]'))
    program.add(f"opt = torch.optim.{rng.choice(OPTIMIZERS).format(p=groups)}")
    program.add('x = torch.randn(16, 8, device="cuda")')
    for _ in range(rng.randint(1, 3)):
        program.add("loss = m1(m0(x)).pow(2).mean()")
        program.add("loss.backward()")
        if rng.random() < 0.3:
            program.add("torch.nn.utils.clip_grad_norm_(m0.parameters(), 1.0)")
        program.add("opt.step()")
        program.add(rng.choice(("opt.zero_grad()", "opt.zero_grad(set_to_none=False)", "del loss")))
    return program.lines
