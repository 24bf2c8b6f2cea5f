"""Tensors that go in any order: chains of ops, results of several parts, streams, writes in place."""
from kinds.ops import operands
from random_program import Program, shape_of


def lifetime_program(rng):
    """Chains of ops whose tensors are dropped in any order, between and after backward passes."""
    program = Program(rng)
    shape = shape_of(rng, rng.randint(2, 3))
    sizes = ", ".join(map(str, shape))
    alive = []
    for number in range(rng.randint(1, 2)):
        program.add(f'v{number} = torch.randn({sizes}, device="cuda", requires_grad=True)')
        alive.append(f"v{number}")
    number = len(alive)
    simple = ("F.relu({a})", "{a} * {b}", "{a} + {b}", "{a} / 2.0", "torch.sigmoid({a})",
              "F.softmax({a}, dim=-1)",
              "{a}.transpose(0, 1).contiguous().transpose(0, 1)", "{a}.detach()", "torch.tanh({a})",
              "{a} - {b}", "{a}.clone()", "torch.exp({a})", "F.gelu({a})")
    for _ in range(rng.randint(3, 8)):
        choice = rng.random()
        if choice < 0.7 or len(alive) < 2:
            template = rng.choice(simple)
            program.add(f"v{number} = {template.format(a=rng.choice(alive), b=rng.choice(alive))}")
            alive.append(f"v{number}")
            number += 1
        elif choice < 0.85:
            program.add(f"del {alive.pop(rng.randrange(len(alive)))}")
        else:
            target = rng.choice(alive)
            program.add(f"{target} = {target} * 1.5")
    last = alive[-1]
    retain = "retain_graph=True" if rng.random() < 0.3 else ""
    program.add(f"s = {last}.sum()")
    program.add(f"s.backward({retain})")
    if retain:
        program.add("s.backward()")
    return program.lines


# Statements that write into v, or into a part of it; w and keep are of its shape.
IN_PLACE = ("v.relu_()", "v.add_(w)", "v.mul_(2.0)", "v.mul_(w)", "v.clamp_(min=0)", "v.sigmoid_()",
            "v.tanh_()", "v.exp_()", "v.zero_()", "v.fill_(0.5)", "v.copy_(w)", "v.sub_(w)",
            "v.div_(2.0)", "v.masked_fill_(keep, 0.0)", "v.neg_()", "v.select(0, 0).mul_(2.0)",
            "v.narrow(0, 0, 1).add_(1.0)", "v.transpose(0, 1).mul_(0.5)", "v += w", "v.abs_()",
            "v.addcmul_(w, w)", "v.lerp_(w, 0.5)",
            *[f"v.{name}_()" for name in ("log", "log2", "log10", "log1p", "sin", "cos", "tan", "erf", "expm1",
                                          "rsqrt", "reciprocal", "floor", "ceil", "round", "sign")])


def in_place_program(rng):
    program = Program(rng)
    leaf, has_grad = operands(program, rng.randint(2, 3), "keep w")
    program.add(f"v = {rng.choice(('x.clone()', 'x * 1.5', 'x.detach()', 'x.contiguous() + 1.0'))}")
    for _ in range(rng.randint(1, 4)):
        program.add(rng.choice(IN_PLACE))
    program.add("layout(v)")
    if has_grad:
        program.backward("v")
    return program.lines


# Ops of several results.
PAIRS = ("x.max(dim=1)", "x.min(dim=0)", "x.sort(dim=-1)", "x.topk(1, dim=0)", "x.max(dim=-1, keepdim=True)")


def pairs_program(rng):
    """Both results of an op, let go in any order, before and after their use."""
    program = Program(rng)
    _, has_grad = operands(program, rng.randint(2, 3), "")
    program.add(f"v, i = {rng.choice(PAIRS)}")
    steps = ["del v", "del i", "y = x * 2.0", "n = i.float()"]
    rng.shuffle(steps)
    if has_grad and rng.random() < 0.7:
        steps.insert(rng.randrange(len(steps)), "s = v.sum()")
    alive = {"v", "i"}
    for step in steps[:rng.randint(1, len(steps))]:
        needed = {"n = i.float()": "i", "s = v.sum()": "v"}.get(step)
        if needed and needed not in alive:
            continue
        if step.startswith("del "):
            alive.discard(step[4:])
        program.add(step)
    if any(line.startswith("s =") for line in program.lines):
        program.add("s.backward()")
    return program.lines


def streams_program(rng):
    """Ops on two streams, with tensors that both use."""
    program = Program(rng)
    program.add("s = torch.cuda.Stream()")
    program.add('v0 = torch.randn(512, 1024, device="cuda")')
    alive = ["v0"]
    for number in range(1, rng.randint(4, 9)):
        choice, name = rng.random(), rng.choice(alive)
        if choice < 0.35:
            program.add(f"v{number} = {name} * 2.0")
            alive.append(f"v{number}")
        elif choice < 0.7:
            program.add(f"with torch.cuda.stream(s): v{number} = {name} + 1.0")
            alive.append(f"v{number}")
        elif choice < 0.85:
            program.add(f"{name}.record_stream(s)")
        elif len(alive) > 1:
            alive.remove(name)
            program.add(f"del {name}")
    return program.lines
