"""Modules of a program's own whose forward fails anywhere: what the variables of functions and modules hold."""
from random_program import Program

LAYERS = ("nn.Linear(256, 256)", "nn.LayerNorm(256)", "nn.Linear(256, 256, bias=False)", "nn.Dropout(0.1)", "nn.GELU()",
          "nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256))", "nn.RMSNorm(256)")
EXPRESSIONS = ("F.relu({0})", "{0} + {1}", "{0} * {1}", "torch.tanh({0})", "F.gelu({0}) + {1}", "F.softmax({0}, dim=-1)",
               "{0} * torch.sigmoid({1})", "torch.cat([{0}, {1}], dim=1)[:, :256]", "{0} - {0}.mean(dim=1, keepdim=True)",
               "F.dropout({0}, 0.2)", "torch.where({0} > 0, {0}, {1})", "{0}.clamp(min=0.0)", "{0} / ({1}.abs() + 1.0)",
               "F.layer_norm({0}, (256,))", "{0}.float().exp()", "helper({0}, {1})", "helper({0}, {0})", "{0}.view(-1, 16, 16).transpose(1, 2).reshape(-1, 256)")
VARIABLES = ("a", "b", "c")


def body_of(rng, modules, count, can_help=True):
    """Statements on x and what they made, and what is returned."""
    known = ["x"]
    lines = []
    for _ in range(count):
        target = rng.choice(VARIABLES) if rng.random() < 0.85 else "x"
        way = rng.random()
        first, second = rng.choice(known), rng.choice(known)
        if modules and way < 0.4:
            value = f"self.{rng.choice(modules)}({first})"
            if rng.random() < 0.3:
                value += f" + {second}"
        else:
            value = rng.choice([e for e in EXPRESSIONS if can_help or "helper" not in e]).format(first, second)
        lines.append(f"{target} = {value}")
        if target not in known:
            known.append(target)
    lines.append(f"return {rng.choice(known)}")
    return lines


def block(rng, name, inner):
    """A module with layers of the library, or `inner` modules of the program's own."""
    names = [f"l{i}" for i in range(rng.randint(1, 3))]
    lines = [f"class {name}(nn.Module):", "    def __init__(self):", "        super().__init__()"]
    for layer in names:
        lines.append(f"        self.{layer} = {inner + '()' if inner and rng.random() < 0.6 else rng.choice(LAYERS)}")
    lines.append("        self.scale = nn.Parameter(torch.ones(256))")
    lines.append("    def forward(self, x):")
    body = body_of(rng, names, rng.randint(2, 6))
    lines += [f"        {line}" for line in [*body[:-1], f"{body[-1]} * self.scale"]]
    return "\n".join(lines)


def failing_modules(rng):
    program = Program(rng)
    program.add("from torch.utils.checkpoint import checkpoint")
    if rng.random() < 0.25:
        program.add('torch.cuda.memory._set_allocator_settings("expandable_segments:True")')
    fraction = rng.choice((0.0006, 0.0008, 0.001))
    program.add(f"torch.cuda.set_per_process_memory_fraction({fraction})")
    helper = ["def helper(x, y):", *(f"    {line}" for line in body_of(rng, [], rng.randint(1, 3), can_help=False))]
    program.add("\n".join(helper))
    program.add(block(rng, "Inner", None))
    program.add(block(rng, "Outer", "Inner"))
    for name in ("hog", "x", "y"):
        program.add(f"{name} = None")  # in the order in which they go at the end
    program.add('model = Outer().to("cuda")')
    limit = int(fraction * 80e9)
    for _ in range(rng.randint(2, 5)):
        way = rng.random()
        call = "y = model(x)"
        if way < 0.15:
            call = "with torch.no_grad(): y = model(x)"
        elif way < 0.3:
            call = 'with torch.autocast("cuda", dtype=torch.bfloat16): y = model(x)'
        elif way < 0.4:
            call = "y = checkpoint(model, x, use_reentrant=False)"
        body = [f'hog = torch.empty({rng.randint(0, limit)}, dtype=torch.uint8, device="cuda")' if rng.random() < 0.8 else "hog = None",
                f'x = torch.randn({rng.choice((64, 1000, 4000, 9000))}, 256, device="cuda"{rng.choice(("", ", requires_grad=True"))})', call]
        if "no_grad" not in call:
            body.append(rng.choice(("y.sum().backward()", "y.float().pow(2).mean().backward()")))
        recoveries = rng.sample(("torch.cuda.empty_cache()", "x = None", "y = None", "hog = None", "model.zero_grad()"), rng.randint(0, 2))
        program.attempt(body, ['mark("failed")', *recoveries, 'mark("handled")'])
        program.add('mark("caught")')
        if rng.random() < 0.3:
            program.add(rng.choice(("torch.cuda.empty_cache()", "hog = None", "model.zero_grad()")))
        program.add('mark("tried")')
    return program.lines
