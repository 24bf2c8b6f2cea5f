"""Operands of several dtypes, devices and kinds: tensors, one number on either device, Python's own."""
from random_program import LAYOUTS, Program, shape_of

DTYPES = ("float32", "float32", "float16", "bfloat16", "float64", "int64", "int32", "uint8", "bool")
FLOATING = ("float32", "float16", "bfloat16", "float64")
ARITHMETIC = ("x + w", "x - w", "x * w", "w - x", "x / w", "w / x", "torch.maximum(x, w)", "torch.minimum(x, w)",
              "torch.where(x > 0, x, w)", "torch.where(keep, x, w)", "torch.pow(x, w)", "torch.atan2(x, w)",
              "torch.cat([x, w])", "torch.stack([x, w])", "x // w", "x % w", "torch.add(x, w, alpha=2)",
              "torch.sub(x, w, alpha=2)", "torch.lerp(x, w, 0.5)", "torch.addcmul(x, w, w)", "torch.dot(x.flatten(), w.flatten())")
COMPARISONS = ("x > w", "x <= w", "x == w", "x != w", "torch.isclose(x, w)", "torch.logical_and(x, w)",
               "torch.logical_xor(x, w)")
IN_PLACE = ("x.add_(w)", "x.mul_(w)", "x.sub_(w, alpha=2)", "x.div_(w)", "x.copy_(w)", "x.addcmul_(w, w)",
            "x.clamp_(min=0)", "x.pow_(2)", "x.masked_fill_(keep, 0.0)", "x.fill_(1)", "x.zero_()", "x.lerp_(w, 0.5)")
# What has no gradient, whatever it is given, or whose dtype w decides.
WITHOUT_GRAPH = ("long()", "int()", "bool()", "any()", "all()", "arg", "like", "new_", "logical", "is", "type_as", "to(w", "//")
NUMBERS = ("2", "2.0", "True", "0.5", "-1")
ALONE = ("x.sum()", "x.mean()", "x.sum(dim=0)", "x.sum(dim=-1, dtype=torch.float32)", "x.mean(dim=0, dtype=torch.float32)",
         "x.prod()", "x.cumsum(dim=0)", "x.cumsum(dim=0, dtype=torch.float32)", "x.any()", "x.all()", "x.max()", "x.argmax()",
         "x.float()", "x.half()", "x.bfloat16()", "x.double()", "x.long()", "x.int()", "x.bool()", "x.to(torch.float32)",
         "x.to(torch.float16).float()", "x.type_as(w)", "x.to(w.dtype)", "x.to(w)", "x.clone()", "x.abs()", "-x", "x.sqrt()",
         "x.exp()", "torch.sigmoid(x)", "x.round()", "torch.clamp(x, 0, 1)", "x.square()", "x ** 2", "2 ** x", "x.sign()",
         "torch.zeros_like(x)", "torch.zeros_like(x, dtype=torch.float32)", "torch.empty_like(x)", "torch.full_like(x, 1)",
         "x.new_zeros(3)", "x.norm()", "x.var()", "x.softmax(-1)", "x.cpu()", "x.cpu().cuda()", "x.tril()", "x.flip(0)",
         "x.to(torch.float32, copy=True)", "x.contiguous()", "x.reciprocal()", "x.logical_not()", "torch.isnan(x)",
         "torch.isfinite(x)", "x.sum(dim=(0, -1))", "x.amax(dim=0)", "x.median()", "x.sort()[0]", "x.topk(1)[0]",
         "x.float().mean()")


def tensor_of(program, name, shape, dtypes):
    rng = program.rng
    dtype = rng.choice(dtypes)
    grad = ", requires_grad=True" if dtype in FLOATING and rng.random() < 0.5 else ""
    named = "" if dtype == "float32" else f", dtype=torch.{dtype}"
    if dtype in FLOATING:
        program.tensor(name, shape, f'device="cuda"{named}{grad}', rng.choice(LAYOUTS))
    else:
        # Random numbers are floating: whole ones are made of them, in the layout that those have.
        program.tensor(f"{name}r", shape, 'device="cuda"', rng.choice(LAYOUTS))
        program.add(f"{name} = {name}r.to(torch.{dtype})")
    return bool(grad)


def operand(program, shape):
    """w: a tensor, broadcast or not, or one number on the device, on the host, or in Python."""
    rng, kind = program.rng, program.rng.random()
    if kind < 0.55:
        other = [1 if rng.random() < 0.25 else size for size in shape]
        return tensor_of(program, "w", other, DTYPES)
    dtype = rng.choice(DTYPES[:8])
    if kind < 0.7:
        program.add(f'w = torch.ones((), dtype=torch.{dtype}, device="cuda")')
    elif kind < 0.8:
        program.add(f"w = torch.ones((), dtype=torch.{dtype})")
    else:
        program.add(f"w = {rng.choice(NUMBERS[:2] + NUMBERS[3:])}")
    return False


def promoted_program(rng):
    """One op of operands of different dtypes, and its gradient."""
    program = Program(rng)
    shape = shape_of(rng, rng.randint(1, 3))
    has_grad = tensor_of(program, "x", shape, DTYPES)
    kind = rng.random()
    expressions = ARITHMETIC if kind < 0.45 else COMPARISONS if kind < 0.55 else IN_PLACE if kind < 0.75 else ALONE
    expression = rng.choice(expressions)
    if "w" in expression.replace("where", "").replace("pow", ""):
        has_grad = operand(program, shape) or has_grad
    if "keep" in expression:
        program.add(f'keep = torch.zeros({", ".join(map(str, shape))}, dtype=torch.bool, device="cuda")')
    if expressions is IN_PLACE:
        program.add(f"y = x.{rng.choice(('clone()', 'detach().clone()', 'mul(1)'))}")
        expression = "y" + expression[1:]
        program.add(expression)
    else:
        program.add(f"y = {expression}")
    program.add("layout(y)")
    keeps_graph = expressions is not COMPARISONS and not any(part in expression for part in WITHOUT_GRAPH)
    if has_grad and keeps_graph and rng.random() < 0.9:
        program.add("y.sum().backward()")
    return program.lines
