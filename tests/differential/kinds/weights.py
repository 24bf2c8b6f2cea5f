"""Layers whose weights are normalised."""
from random_program import LAYOUTS, Program, options_of

# Layers with 8 channels whose weight is computed of others, and how many dimensions they are given.
NORMED = [
    (2, "nn.Linear(8, 5)"), (2, "nn.Linear(8, 600)"), (3, "nn.Linear(8, 7, bias=False)"),
    (3, "nn.Conv1d(8, 6, 3, padding=1)"), (4, "nn.Conv2d(8, 6, 3)"), (4, "nn.Conv2d(8, 8, 3, groups=4, bias=False)"),
    (5, "nn.Conv3d(8, 4, 2)"), (3, "nn.ConvTranspose1d(8, 6, 2)"), (4, "nn.ConvTranspose2d(8, 6, 2, stride=2)"),
    (2, "nn.LayerNorm(8)"), (4, "nn.PReLU(8)"),
]
WEIGHT_NORMS = [f"nn.utils.{place}weight_norm(m{more})" for place in ("", "", "parametrizations.")
                for more in ("", "", ", dim=-1", ", dim=1", ", dim=2", ', name="bias"')]
SPECTRAL_NORMS = [f"nn.utils.{place}spectral_norm(m{more})" for place in ("", "", "parametrizations.")
                  for more in ("", "", ", n_power_iterations=3", ", dim=1", ", eps=0.001")]


def normed_program(rng):
    """A layer of a normalised weight: calls with and without a graph, in training and not."""
    program = Program(rng)
    if rng.random() < 0.5:
        program.add("torch.backends.cudnn.enabled = True")
    dims, layer = rng.choice(NORMED)
    norm = rng.choice(rng.choice((WEIGHT_NORMS, SPECTRAL_NORMS)))
    options, grad = options_of(rng, ("float32", "float32", "float16", "bfloat16", "float64"))
    shape = [rng.choice((1, 2, 4)), 8] + [rng.choice((5, 6, 7, 8)) for _ in range(dims - 2)]
    if "Linear" in layer or "LayerNorm" in layer:
        shape = [*shape[:1], *shape[2:], 8]
    dtype = options.removeprefix('device="cuda"')
    is_moved = rng.random() < 0.2
    program.add(f"m = {layer})" if is_moved else f"m = {layer[:-1]}, {options})")
    if is_moved:
        program.lines[-1] = program.lines[-1][:-1]
    if rng.random() < 0.1:
        program.add("m.eval()")
    program.add(f"m = {norm}")
    if is_moved:
        program.add(f"m = m.to({options})" if dtype else 'm = m.to("cuda")')
    program.tensor("x", shape, options + grad, rng.choice(LAYOUTS))
    if rng.random() < 0.3:
        program.add(f"o = torch.optim.{rng.choice(('SGD(m.parameters(), lr=0.1)', 'Adam(m.parameters())'))}")
    for number in range(rng.randint(1, 3)):
        way = rng.random()
        if way < 0.15 and not dtype:
            program.add(f'with torch.autocast("cuda", dtype=torch.{rng.choice(("float16", "bfloat16"))}): y = m(x)')
        elif way < 0.25:
            program.add("with torch.no_grad(): n = m(x)")
            continue
        elif way < 0.35:
            program.add(rng.choice(("m.eval()", "m.train()")))
            program.add("y = m(x)")
        elif way < 0.45 and dims != 3:
            program.add("y = m(x) + m(x)")
        else:
            program.add("y = m(x)")
        program.add("layout(y)")
        program.backward("y")
        if any(line.startswith("o =") for line in program.lines):
            program.add(rng.choice(("o.step()", "o.zero_grad()")))
    if rng.random() < 0.2 and "parametrizations" not in norm:
        program.add("w = m.weight * 2.0")
    if rng.random() < 0.2 and "parametrizations" not in norm:
        removed = norm.replace("utils.", "utils.remove_").split("(")[0]
        name = ', name="bias"' if "bias" in norm else ""
        program.add(f"m = {removed}(m{name})")
        program.add("z = m(x)")
    return program.lines
