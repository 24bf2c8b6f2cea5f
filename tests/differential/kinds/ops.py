"""One op, on tensors of any layout, shape and dtype, and its gradient."""
from random_program import LAYOUTS, Program, options_of, shape_of

# Each op on x, of any shape with enough dimensions, and on what is made beside it: w of x's shape,
# ids of x's shape below 1, keep a bool mask. (dimensions needed, expression)
OPS = [
    *[(1, f"F.{name}(x)") for name in (
        "relu", "gelu", "silu", "mish", "softplus", "logsigmoid", "leaky_relu", "elu", "selu", "celu",
        "hardtanh", "relu6", "hardsigmoid", "hardswish", "hardshrink", "softshrink", "softsign",
        "tanhshrink")],
    *[(1, f"torch.{name}(x)") for name in (
        "sigmoid", "tanh", "exp", "neg", "sin", "cos", "tan", "erf", "expm1", "floor", "ceil", "round",
        "sign", "abs", "square", "sinh", "cosh", "atan", "exp2", "reciprocal", "clone", "sqrt", "log",
        "rsqrt", "log1p")],
    *[(1, f"x {operator} {operand}") for operator in "+-*/" for operand in ("w", "2.0")],
    (1, "x ** 2"), (1, "x ** 3"), (1, "torch.pow(x, w)"), (1, "torch.maximum(x, w)"),
    (1, "torch.minimum(x, w)"), (1, "torch.where(keep, x, w)"), (1, "torch.lerp(x, w, 0.5)"),
    (1, "torch.addcmul(x, w, w)"), (1, "torch.addcdiv(x, w, w)"), (1, "torch.atan2(x, w)"),
    (1, "x.clamp(min=0)"), (1, "x.clamp(max=1)"), (1, "x.clamp(min=0, max=1)"),
    (1, "x.masked_fill(keep, 0.0)"), (1, "F.dropout(x, 0.5, True)"), (1, "x.contiguous()"),
    (1, "x.sum()"), (1, "x.mean()"), (1, "x.max()"), (1, "x.min()"), (1, "x.norm()"), (1, "x.std()"),
    (1, "x.var()"), (2, "x.sum(dim=0)"), (2, "x.sum(dim=1)"), (2, "x.mean(dim=-1)"),
    (2, "x.mean(dim=0, keepdim=True)"), (2, "x.max(dim=1)[0]"), (2, "x.min(dim=0)[0]"),
    (2, "x.norm(dim=1)"), (2, "x.std(dim=-1)"), (2, "x.var(dim=0)"), (2, "x.amax(dim=1)"),
    (2, "x.amin(dim=0)"), (2, "x.prod(dim=1)"), (2, "x.logsumexp(dim=1)"), (2, "x.cumsum(dim=1)"),
    (2, "x.cumsum(dim=0)"), (2, "F.softmax(x, dim=-1)"), (2, "F.softmax(x, dim=0)"),
    (2, "F.log_softmax(x, dim=1)"), (2, "F.glu(x, dim=-1)"), (2, "x.sort(dim=-1)[0]"),
    (2, "x.sort(dim=0)[0]"), (2, "x.topk(1, dim=-1)[0]"), (2, "x.flip((0,))"), (2, "x.flip((0, 1))"),
    (2, "x.roll(1, 0)"), (2, "torch.roll(x, shifts=(1, 1), dims=(0, 1))"), (2, "x.triu()"),
    (2, "x.tril()"), (2, "x.repeat_interleave(2, dim=1)"),
    (2, "F.pad(x, (1, 2))"), (2, "F.pad(x, (-1, 0))"), (2, "F.pad(x, (0, 0, 1, 1))"),
    (2, "torch.cat([x, w], dim=0)"), (2, "torch.cat([x, x], dim=-1)"), (2, "torch.stack([x, w], dim=1)"),
    (2, "x.transpose(0, 1)"), (2, "x.flatten()"), (2, "x.flatten(0, 1)"), (2, "x.narrow(0, 0, 1)"),
    (2, "x.select(0, 0)"), (2, "x.unsqueeze(1)"),
    (2, "x.gather(0, ids)"), (2, "x.index_select(0, line)"), (2, "x[line]"),
    (2, "x.scatter_add(0, ids, w)"), (2, "x.scatter(0, ids, w)"),
    (2, "x.index_add(0, line, x.narrow(0, 0, 1))"), (2, "F.normalize(x, dim=1)"),
    (2, "F.cosine_similarity(x, w, dim=1)"), (1, "F.mse_loss(x, w)"), (1, "F.l1_loss(x, w)"),
    (1, "F.smooth_l1_loss(x, w)"), (1, "F.huber_loss(x, w)"), (1, 'F.mse_loss(x, w, reduction="sum")'),
    (1, "F.kl_div(x, w)"), (1, "F.binary_cross_entropy_with_logits(x, w)"),
    (2, "torch.matmul(x, w.transpose(-2, -1))"), (2, "torch.matmul(x.transpose(-2, -1), w)"),
    (1, "x % w"), (1, "x % 2.0"), (1, "2.0 % x"), (1, "torch.remainder(x, w)"), (1, "x // w"),
    (1, "torch.rsub(x, w)"), (1, "torch.rsub(x, w, alpha=0.5)"), (1, "torch.rsub(x, 2.0)"),
    (1, "torch.lerp(x, w, w)"), (1, "torch.where(keep, x, 0.5)"), (1, "torch.where(keep, 0.5, x)"),
    (1, "x[keep]"), (1, "x.masked_select(keep)"), (2, "x.transpose(0, 1)[keep.transpose(0, 1)]"),
    (2, "x[rows]"), (1, "x.var(unbiased=False)"), (2, "x.std(dim=1, correction=0)"),
    (2, "x.var(dim=0, unbiased=False, keepdim=True)"), (2, "x.diagonal()"),
    (3, "x.diagonal(1, 2, 0)"), (2, "x.mT"), (1, "x.nan_to_num()"), (1, "x.nan_to_num(nan=1.0)"),
    (1, "x.positive()"), (2, "torch.take_along_dim(x, ids, dim=1)"),
    (2, "torch.take_along_dim(x, ids.narrow(0, 0, 1), dim=1)"),
    (2, "torch.einsum('...i,...i->...', x, w)"), (2, "torch.einsum('...ij,...kj->...ik', x, w)"),
    (2, "torch.einsum('i...->...', x)"), (1, "torch.bernoulli(x)"), (1, "x.prod()"),
    (2, "x.prod(dim=0)"), (1, "x.cumprod(dim=0)"), (2, "x.cumprod(dim=1)"),
    *[(1, f'F.{name}(x, w, reduction="none")') for name in (
        "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div",
        "binary_cross_entropy_with_logits", "hinge_embedding_loss", "poisson_nll_loss")],
    *[(1, f"F.binary_cross_entropy(torch.sigmoid(x), torch.sigmoid(w){reduction})")
      for reduction in ("", ', reduction="none"', ', reduction="sum"')],
    (2, "x.max(dim=1)[1]"), (2, "x.sort(dim=0)[1]"), (1, "x.any()"), (1, "x.all()"),
    (1, "(x > 0).any()"), (2, "x.any(dim=0)"), (2, "x.all(dim=1)"), (1, "keep.nonzero()"),
    (1, "torch.where(keep)[0]"), (1, "x.argmax()"), (2, "x.argmin(dim=0)"),
]

# What has no gradient.
WITHOUT_GRADIENT = ("[1]", ".any(", ".all(", "nonzero", "(keep)[0]", ".arg", "//")
# What does not broadcast.
OF_ONE_SHAPE = ("loss", "reshape_as", "kl_div", "cross_entropy", "cat", "stack", "matmul", "scatter", "einsum")


def operands(program, dims, expression, shape=None):
    """Statements that make what the expression names; the name of x's leaf."""
    rng = program.rng
    shape, (options, grad) = shape or shape_of(rng, dims), options_of(rng)
    leaf = program.tensor("x", shape, options + grad, rng.choice(LAYOUTS))
    if "w" in expression.replace("where", "").replace("pow", "").replace("narrow", ""):
        other = list(shape)
        if rng.random() < 0.3 and not any(part in expression for part in OF_ONE_SHAPE):
            other = [1 if rng.random() < 0.5 else size for size in shape]
        w_grad = grad if rng.random() < 0.5 else ""
        program.tensor("w", other, options + w_grad, rng.choice(LAYOUTS))
    sizes = ", ".join(map(str, shape))
    if "keep" in expression:
        program.add(f'keep = torch.zeros({sizes}, dtype=torch.bool, device="cuda")')
    if "ids" in expression:
        program.add(f'ids = torch.zeros({sizes}, dtype=torch.long, device="cuda")')
    if "line" in expression:
        program.add('line = torch.zeros(1, dtype=torch.long, device="cuda")')
    if "rows" in expression:
        program.add(f'rows = torch.zeros({shape[0]}, dtype=torch.bool, device="cuda")')
    has_gradient = not any(part in expression for part in WITHOUT_GRADIENT)
    return leaf, bool(grad) and has_gradient


def op_program(rng):
    program = Program(rng)
    least, expression = rng.choice(OPS)
    leaf, has_grad = operands(program, rng.randint(least, max(least, 4)), expression)
    program.add(f"y = {expression}")
    program.add("layout(y)")
    if rng.random() < 0.2:
        program.add("y = F.relu(y)")
    if has_grad:
        program.backward("y")
    return program.lines


def autocast_program(rng):
    program = Program(rng)
    least, expression = rng.choice(OPS)
    _, has_grad = operands(program, rng.randint(least, max(least, 3)), expression)
    dtype = rng.choice(("float16", "bfloat16"))
    program.add('linear = nn.Linear(8, 8, device="cuda")')
    program.add('start = torch.randn(4, 8, device="cuda")')
    program.add(f'with torch.autocast("cuda", dtype=torch.{dtype}):')
    program.lines[-1] += f" h = linear(start); y = {expression}"
    program.add("layout(y)")
    if has_grad:
        program.backward("y")
    return program.lines


def empty_program(rng):
    """An op on tensors with a dimension of no elements."""
    program = Program(rng)
    least, expression = rng.choice(OPS)
    dims = rng.randint(max(least, 1), max(least, 3))
    shape = [rng.choice((0, 1, 3, 8)) for _ in range(dims)]
    shape[rng.randrange(dims)] = 0
    leaf, has_grad = operands(program, dims, expression, shape)
    program.add(f"y = {expression}")
    program.add("layout(y)")
    if has_grad:
        program.backward("y")
    return program.lines
