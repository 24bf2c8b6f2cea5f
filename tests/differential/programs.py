"""Random programs, each a list of Python statements that a seed decides.

A program is made of statements of one line, so that any of them can be left out to shrink it; the
twin in Lua is a translation of it. A kind of programs is a row of KINDS.
"""
import random

from kinds.averages import averaging_program, pooled_program
from kinds.contractions import contracted_program
from kinds.encoders import encoder_program
from kinds.failed_modules import failing_modules
from kinds.failed_steps import failing_steps
from kinds.failures import failing_program
from kinds.graphs import graph_program
from kinds.indexing import indexed_program
from kinds.optimizers import optimized_program
from kinds.promotions import promoted_program
from kinds.recurrent import recurrent_program
from kinds.sequences import unbatched_program
from kinds.sizes import sized_program
from random_program import LAYOUTS, SIZES, Program, options_of, shape_of

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

# Modules on images and lines, with the dimensions of what they are given and their channels.
MODULES = [
    (4, "nn.Conv2d(8, 10, 3, padding=1)"), (4, "nn.Conv2d(8, 8, 3, padding=1, groups=8)"),
    (4, "nn.Conv2d(8, 12, 1)"), (4, "nn.Conv2d(8, 8, 3, stride=2, groups=2)"),
    (4, "nn.Conv2d(8, 6, 3, dilation=2, padding=2)"), (4, "nn.Conv2d(8, 6, 3, bias=False)"),
    (4, "nn.ConvTranspose2d(8, 6, 2, stride=2)"), (4, "nn.ConvTranspose2d(8, 6, 4, stride=2, groups=2)"),
    (4, "nn.ConvTranspose2d(8, 4, 3, bias=False)"), (4, "nn.BatchNorm2d(8)"),
    (4, "nn.BatchNorm2d(8, affine=False)"), (4, "nn.GroupNorm(4, 8)"), (4, "nn.InstanceNorm2d(8)"),
    (4, "nn.MaxPool2d(2)"), (4, "nn.MaxPool2d(3, stride=1)"), (4, "nn.AvgPool2d(2)"),
    (4, "nn.AdaptiveAvgPool2d(1)"), (4, "nn.AdaptiveAvgPool2d(3)"), (4, "nn.PixelShuffle(2)"),
    (4, 'nn.Upsample(scale_factor=2)'), (4, 'nn.Upsample(scale_factor=2, mode="bilinear")'),
    (4, "nn.ReLU()"), (4, "nn.Dropout(0.5)"), (4, "nn.Dropout2d(0.5)"), (4, "nn.Flatten()"),
    (3, "nn.Conv1d(8, 6, 3, padding=1)"), (3, "nn.BatchNorm1d(8)"), (3, "nn.MaxPool1d(2)"),
    (3, "nn.AvgPool1d(2)"), (3, "nn.AdaptiveAvgPool1d(2)"), (3, "nn.GroupNorm(2, 8)"),
    (3, "nn.InstanceNorm1d(8)"), (2, "nn.Linear(8, 5)"), (2, "nn.Linear(8, 1)"),
    (2, "nn.Linear(8, 7, bias=False)"), (2, "nn.LayerNorm(8)"), (2, "nn.BatchNorm1d(8)"),
    (2, "nn.Softmax(dim=1)"), (2, "nn.GELU()"), (2, "nn.SiLU()"), (2, "nn.PReLU()"),
]

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


WITHOUT_PARAMETERS = ("Pool", "ReLU()", "Dropout", "Flatten", "Pixel", "Upsample", "Softmax", "GELU",
                      "SiLU")


def module_program(rng):
    program = Program(rng)
    dims, module = rng.choice(MODULES)
    shape = [rng.choice((1, 2, 4)), 8] + [rng.choice((6, 7, 8, 9)) for _ in range(dims - 2)]
    options, grad = options_of(rng, ("float32", "float32", "float16", "bfloat16"))
    dtype = options.removeprefix('device="cuda"')
    program.tensor("x", shape, options + grad, rng.choice(LAYOUTS))
    has_parameters = not any(part in module for part in WITHOUT_PARAMETERS)
    made = f'{module[:-1]}, device="cuda"{dtype})' if has_parameters else module
    program.add(f"m = {made}")
    program.add("y = m(x)")
    program.add("layout(y)")
    program.backward("y")
    return program.lines


def cudnn_program(rng):
    return ["torch.backends.cudnn.enabled = True", *module_program(rng)]


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
            f"h = h.detach()",
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


def attention_program(rng):
    """Attention of heads of any size, whose rows begin anywhere."""
    program = Program(rng)
    batch, heads, queries = rng.choice((1, 2)), rng.choice((1, 2, 4)), rng.choice((1, 7, 16, 33, 64))
    keys, size = rng.choice((queries, queries, 9, 40)), rng.choice((3, 4, 8, 12, 20, 33, 40, 64, 72, 130))
    options, grad = options_of(rng, ("float32", "float16", "float16", "bfloat16"))
    for name, length in (("q", queries), ("k", keys), ("v", keys)):
        layout = rng.choice(("plain", "plain", "heads behind", "sliced", "packed"))
        if layout == "heads behind":
            program.add(f"{name}0 = torch.randn({batch}, {length}, {heads}, {size}, {options}{grad})")
            program.add(f"{name} = {name}0.transpose(1, 2)")
        elif layout == "sliced":
            program.add(f"{name}0 = torch.randn({batch}, {heads}, {length}, {size + 8}, {options}{grad})")
            program.add(f"{name} = {name}0.narrow(3, {rng.choice((0, 1, 8))}, {size})")
        elif layout == "packed":
            program.add(f"{name}0 = torch.randn({batch}, {length}, {3 * heads * size}, {options}{grad})")
            first = rng.randrange(3) * heads * size
            program.add(f"{name} = {name}0.narrow(2, {first}, {heads * size})"
                        f".view({batch}, {length}, {heads}, {size}).transpose(1, 2)")
        else:
            program.add(f"{name} = torch.randn({batch}, {heads}, {length}, {size}, {options}{grad})")
    arguments = rng.choice(("", "", ", dropout_p=0.25", ", attn_mask=mask"))
    if queries == keys and not arguments.endswith("mask"):
        arguments += rng.choice(("", ", is_causal=True"))
    if arguments.endswith("mask"):
        program.add(f"mask = torch.zeros({queries}, {keys}, {options})")
    program.add(f"y = F.scaled_dot_product_attention(q, k, v{arguments})")
    program.add("layout(y)")
    if grad:
        program.backward("y")
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


# Ops whose gradients have a gradient.
TWICE = [
    *[(1, f"F.{name}(x)") for name in ("gelu", "silu", "relu", "leaky_relu", "softsign", "dropout")],
    *[(1, f"torch.{name}(x)") for name in ("sigmoid", "tanh", "exp", "sin", "square")],
    *[(1, f"F.{name}(x)") for name in ("softplus", "logsigmoid", "mish")],
    (1, "torch.maximum(x, w)"), (1, "torch.minimum(x, w)"), (1, "x.var()"), (1, "x.std()"),
    (2, "x.var(dim=1)"), (2, "x.std(dim=0, keepdim=True)"),
    (2, "x.index_select(0, torch.zeros(3, dtype=torch.long, device=\"cuda\"))"),
    (1, "x * w"), (1, "x / w"), (2, "layer(x)"), (2, "x.flip((0,))"),
    (2, "x.roll(1, 0)"), (2, "x.triu()"), (2, "x.tril()"), (2, "F.pad(x, (1, 2))"),
    (2, "F.pad(x, (-1, 0))"), (2, "x.cumsum(dim=0)"), (1, "x.max()"), (1, "x.min()"),
    (2, "x.max(dim=1)[0]"), (2, "x.min(dim=0)[0]"), (2, "x.sort(dim=-1)[0]"),
    (2, "x.topk(1, dim=-1)[0]"), (2, "F.softmax(x, dim=-1)"), (2, "torch.matmul(x, w.transpose(-2, -1))"),
    (1, "x.split(2)[0]"), (2, "x.split(2, dim=1)[0]"), (1, "torch.cat([x.chunk(2)[0], x], dim=0)"),
    (2, "x.unbind(0)[0]"), (2, "torch.stack([x.unbind(1)[0], x.unbind(1)[0]])"), (3, "F.avg_pool2d(x, 2, stride=1, padding=1)"),
    (3, "F.max_pool2d(x, 2, stride=1, padding=1)"), (3, "F.adaptive_avg_pool2d(x, (2, 3))"), (2, "x + w[0]"),
    (2, "F.linear(x, w, w.sum(-1))"),
    (2, 'F.pad(x, (0, 1), mode="replicate")'), (3, 'F.pad(x, (1, 1, 1, 0), mode="circular")'),
    (2, 'F.pad(x, (1, 1), mode="circular")'), (2, 'F.pad(x, (0, 1), mode="circular")'),
    *[(2, f'F.pad(torch.cat([x, x], dim=-1), (1, 1), mode="{mode}")') for mode in ("reflect", "replicate")],
    *[(1, f"F.{name}(x)") for name in ("elu", "selu", "hardtanh", "relu6", "hardsigmoid", "hardswish",
                                       "hardshrink", "softshrink")],
    (1, "F.elu(x, 0.7)"), (1, "F.celu(x, 0.7)"), (1, "F.threshold(x, 0.1, 2.0)"),
    *[(1, f"F.{name}(x * w, inplace=True)") for name in ("elu", "selu", "celu", "leaky_relu", "hardtanh", "relu6", "silu")],
    (1, "F.prelu(x, w.sum().reshape(1))"), (2, "F.prelu(x, w.transpose(0, 1).flatten(1).sum(1))"),
    (1, "F.glu(torch.cat([x, x]), dim=0)"), (2, "F.glu(torch.cat([x, w], dim=1), dim=1)"),
    *[(1, f"F.{loss}{more})") for loss in ("mse_loss(x, w", "smooth_l1_loss(x, w", "huber_loss(x, w",
                                           "soft_margin_loss(x, w.detach()")
      for more in ("", ', reduction="sum"', ', reduction="none"')],
    (1, "F.smooth_l1_loss(x, w, beta=0.5)"), (1, "F.huber_loss(w, x, delta=0.5)"), (1, "x.prod()"),
    (2, "x.prod(dim=0)"), (2, "x.prod(dim=1, keepdim=True)"), (1, "x.cumprod(dim=0)"), (2, "x.cumprod(dim=1)"),
    *[(1, f"x.{name}()") for name in ("amax", "amin")], (2, "x.amax(dim=1)"), (2, "x.amin(dim=(0, 1), keepdim=True)"),
    (2, "x.gather(0, ids)"), (2, "x[line]"), (2, "x[:, line]"), (1, "x[keep]"), (2, "x[rows]"), (1, "x.masked_select(keep)"),
    (2, "x.scatter(0, ids, w)"), (2, "x.scatter_add(0, ids, w)"), (2, "x.scatter(1, ids, 0.5)"),
    (2, "x.index_add(0, line, w.narrow(0, 0, 1))"), (2, "x.index_add(0, line, w.narrow(0, 0, 1), alpha=0.5)"),
    (1, "x.masked_fill(keep, 0.5)"), (1, "torch.where(keep, x, w)"), (2, "torch.take_along_dim(x, ids, dim=1)"),
    (1, "x.norm()"), (2, "x.norm(dim=1)"), (1, "x.abs()"), (1, "torch.abs(x * w)"), (1, "F.l1_loss(x, w)"),
    *[(1, f"x.norm(p={p})") for p in (1, 'float("inf")')], (2, "x.norm(p=1, dim=0)"),
    (2, 'x.norm(p=float("inf"), dim=1)'),
    *[(1, f"(x * w).{name}_()") for name in ("sigmoid", "tanh", "exp", "neg", "abs", "log1p", "sin", "cos", "tan", "erf",
                                             "expm1", "rsqrt", "reciprocal", "log", "log2", "log10", "sqrt", "round")],
    (1, "(x * w).clamp_(min=-0.5, max=0.5)"),
]


def second_gradient_program(rng):
    """An op, its gradient with a graph, and the gradient of that."""
    program = Program(rng)
    least, expression = rng.choice(TWICE)
    shape = [rng.choice((1, 2, 3, 5, 8)) for _ in range(rng.randint(least, 3))]
    program.add(f'x = torch.randn({", ".join(map(str, shape))}, device="cuda", requires_grad=True)')
    if "w" in expression:
        program.add(f'w = torch.randn({", ".join(map(str, shape))}, device="cuda", requires_grad=True)')
    sizes = ", ".join(map(str, shape))
    if "keep" in expression:
        program.add(f'keep = torch.zeros({sizes}, dtype=torch.bool, device="cuda")')
    if "ids" in expression:
        program.add(f'ids = torch.zeros({sizes}, dtype=torch.long, device="cuda")')
    if "line" in expression and "F.linear" not in expression:
        program.add('line = torch.zeros(1, dtype=torch.long, device="cuda")')
    if "rows" in expression:
        program.add(f'rows = torch.zeros({shape[0]}, dtype=torch.bool, device="cuda")')
    if "layer" in expression:
        affine = rng.choice(("", ", elementwise_affine=False"))
        program.add(f'layer = nn.LayerNorm({shape[-1]}{affine}, device="cuda")')
    program.add(f"y = {expression}")
    program.add("g = torch.autograd.grad((y * y).sum(), x, create_graph=True)[0]")
    program.add("layout(g)")
    if rng.random() < 0.5:
        program.add("del y")
    program.add("z = g * g")
    program.add("z.sum().backward()")
    return program.lines


# Layers and losses of images whose gradients have a gradient; {c} are the channels.
IMAGES_TWICE = [
    *[f"nn.BatchNorm2d({{c}}{more}, device=\"cuda\")"
      for more in ("", "", ", affine=False", ", track_running_stats=False")],
    *[f"nn.GroupNorm({groups}, {{c}}{more}, device=\"cuda\")"
      for groups in (1, 2) for more in ("", ", affine=False")],
    "nn.InstanceNorm2d({c}, device=\"cuda\")", "nn.InstanceNorm2d({c}, affine=True, device=\"cuda\")",
    "nn.Upsample(scale_factor=2)", "nn.Upsample(scale_factor=2, mode=\"bilinear\")",
    *[f"nn.Conv2d({{c}}, 4, 3, padding=1{more}, device=\"cuda\")" for more in ("", ", groups=2", ", stride=2")],
    *[f"nn.ConvTranspose2d({{c}}, 4, {kernel}{more}, device=\"cuda\")" for kernel in (2, 3)
      for more in ("", ", groups=2", ", stride=2", ", stride=2, output_padding=1", ", padding=1, bias=False",
                   ", dilation=2")],
    *[f"nn.Conv2d({{c}}, 4, 3, padding=1, padding_mode=\"{mode}\", device=\"cuda\")"
      for mode in ("circular", "reflect", "replicate")],
    "nn.PReLU(device=\"cuda\")", "nn.PReLU({c}, device=\"cuda\")", "nn.GLU(dim=1)",
]


VOLUMES_TWICE = [
    *[f"nn.Conv3d({{c}}, 4, 3, padding=1{more}, device=\"cuda\")" for more in ("", ", groups=2", ", stride=2")],
    *[f"nn.ConvTranspose3d({{c}}, 4, 2{more}, device=\"cuda\")" for more in ("", ", groups=2", ", stride=2")],
    "nn.MaxPool3d(2)", "nn.AvgPool3d(2)", "nn.AdaptiveAvgPool3d(2)", "nn.AdaptiveAvgPool3d(1)",
    "nn.BatchNorm3d({c}, device=\"cuda\")", "nn.InstanceNorm3d({c}, device=\"cuda\")",
]


LINES_TWICE = [
    *[f"nn.{conv}1d({{c}}, 4, 3{more}, device=\"cuda\")" for conv in ("Conv", "ConvTranspose")
      for more in ("", ", padding=1", ", groups=2", ", stride=2", ", dilation=2, bias=False")],
    "nn.BatchNorm1d({c}, device=\"cuda\")", "nn.MaxPool1d(2)", "nn.AvgPool1d(2)", "nn.PReLU({c}, device=\"cuda\")",
]


def layer_second_gradient_program(rng):
    """A layer, the gradients of its input and parameters with a graph, and the gradient of those."""
    program = Program(rng)
    if rng.random() < 0.5:
        program.add("torch.backends.cudnn.enabled = True")
    layers = rng.choice((IMAGES_TWICE, IMAGES_TWICE, VOLUMES_TWICE, LINES_TWICE))
    dims = {id(LINES_TWICE): 1, id(VOLUMES_TWICE): 3}.get(id(layers), 2)
    shape = [rng.choice((1, 2, 3)), rng.choice((2, 4, 6)), *[rng.choice((2, 3, 5, 8)) for _ in range(dims)]]
    program.add(f'x = torch.randn({", ".join(map(str, shape))}, device="cuda", requires_grad=True)')
    layer = rng.choice(layers).format(c=shape[1])
    program.add(f"layer = {layer}")
    if rng.random() < 0.25:
        program.add("layer.eval()")
    program.add("y = layer(x)")
    loss = rng.choice(("(y * y).sum()", "(y * y).sum()", "F.binary_cross_entropy_with_logits(y, t)",
                       "F.binary_cross_entropy(torch.sigmoid(y), t)",
                       "F.binary_cross_entropy(torch.sigmoid(y), t, reduction=\"sum\")"))
    if "t)" in loss or "t," in loss:
        program.add("t = torch.zeros_like(y)")
    program.add(f"loss = {loss}")
    has_weight = "device" in layer and "affine=False" not in layer and (
        "Instance" not in layer or "affine=True" in layer)
    if has_weight and rng.random() < 0.4:
        program.add("g, h = torch.autograd.grad(loss, [x, layer.weight], create_graph=True)")
        program.add("z = (g * g).sum() + (h * h).sum()")
    else:
        program.add("g = torch.autograd.grad(loss, x, create_graph=True)[0]")
        program.add("layout(g)")
        program.add("z = (g * g).sum()")
    if rng.random() < 0.5:
        program.add("del y")
    if rng.random() < 0.3:
        program.add("z = z + loss")
    program.add("z.backward()")
    return program.lines


# Views of another shape, roundings and choices.
SHAPED = [
    (1, "x.unfold(-1, 1, 1)"), (1, "torch.cat([x, x], dim=0).unfold(0, 2, 1)"),
    (2, "torch.cat([x, x, x], dim=1).unfold(1, 3, 2)"), (2, "x.transpose(0, 1).unfold(0, 1, 2)"),
    (1, "x.ravel()"), (1, "x.reshape_as(w)"), (1, "x.clip(-1.0, 1.0)"), (1, "x.where(keep, w)"),
    (1, "x.where(keep, 0.5)"), (1, 'x.div(w, rounding_mode="floor")'),
    (1, 'torch.div(x, w, rounding_mode="trunc")'), (1, 'x.div(2.0, rounding_mode="trunc")'),
    (1, "torch.logical_xor(x, w)"), (1, "torch.logical_xor(keep, w)"),
    (1, "torch.concat([x, w], dim=0)"), (1, "x.subtract(w)"), (1, "x.multiply(w)"), (1, "torch.true_divide(x, w)"),
]


def shaped_program(rng):
    program = Program(rng)
    least, expression = rng.choice(SHAPED)
    leaf, has_grad = operands(program, rng.randint(least, 3), expression)
    program.add(f"y = {expression}")
    program.add("layout(y)")
    if has_grad and "xor" not in expression:
        program.backward("y")
    return program.lines


# Padding by mode and by name, transposed convolutions of lines, bicubic images: with 8 channels.
PADDED = [
    *[(dims, f'F.pad(x, {pairs}, mode="{mode}")')
      for mode in ("reflect", "replicate", "circular")
      for dims, pairs in ((2, "(2, 1)"), (3, "(3, 0)"), (3, "(-1, 2)"), (3, "(1, 2, 2, 1)"),
                          (4, "(2, 2, 1, 0)"), (4, "(1, -2, -1, 3)"), (5, "(1, 1, 0, 2, 1, 2)"))],
    *[(4, f'nn.Conv2d(8, 6, {kernel}, padding="{name}"{options})')
      for kernel in ("2", "3", "(4, 3)", "(1, 2)") for name in ("same", "valid")
      for options in ("", ", bias=False", ", groups=2", ", dilation=2")],
    *[(3, f'nn.Conv1d(8, 6, {kernel}, padding="same"{options})')
      for kernel in (1, 2, 3, 4) for options in ("", ", groups=2", ", dilation=3", ", bias=False")],
    *[(dims, f'nn.Conv{dims - 2}d(8, 6, 3, padding={padding}, padding_mode="{mode}"{options})')
      for mode in ("reflect", "replicate", "circular") for dims in (3, 4)
      for padding, options in (("1", ""), ("2", ", stride=2"), ('"same"', ""), ('"valid"', ""),
                               ("1", ", groups=2"))],
    *[(4, f'F.interpolate(x, {size}, mode="bicubic"{corners})')
      for size in ("scale_factor=2.0", "size=(5, 9)", "scale_factor=0.5")
      for corners in ("", ", align_corners=True")],
    *[(3, f"nn.ConvTranspose1d(8, 6, {options})")
      for options in ("2", "3, stride=2", "4, stride=2, padding=1", "2, groups=2", "3, bias=False",
                      "3, stride=3, output_padding=1", "2, dilation=2")],
]


def padded_program(rng):
    program = Program(rng)
    dims, expression = rng.choice(PADDED)
    if rng.random() < 0.5:
        program.add("torch.backends.cudnn.enabled = True")
    shape = [rng.choice((1, 2, 4)), 8] + [rng.choice((5, 6, 7, 8)) for _ in range(dims - 2)]
    options, grad = options_of(rng, ("float32", "float32", "float16", "bfloat16", "float64"))
    leaf = program.tensor("x", shape, options + grad, rng.choice(LAYOUTS))
    if "nn." in expression:
        dtype = options.removeprefix('device="cuda"')
        program.add(f'm = {expression[:-1]}, device="cuda"{dtype})')
        program.add("y = m(x)")
    else:
        program.add(f"y = {expression}")
    program.add("layout(y)")
    if rng.random() < 0.3 and leaf != "x":
        program.add("del x")
    if grad or "nn." in expression:
        program.backward("y")
    return program.lines


# Layers of volumes with 8 channels, and how many dimensions they are given.
VOLUMES = [
    *[(5, f"nn.Conv3d(8, {options})")
      for options in ("6, 3, padding=1", "6, 3, padding=1, bias=False", "12, 1", "8, 2, stride=2",
                      "8, 3, groups=2", "8, 3, padding=1, groups=8", "16, 2, groups=8",
                      "6, 2, dilation=2", "6, (1, 3, 3), padding=(0, 1, 1)", '6, (2, 3, 1), padding="same"',
                      '4, 3, padding=1, padding_mode="replicate"')],
    *[(5, f"nn.ConvTranspose3d(8, {options})")
      for options in ("6, 2, stride=2", "4, 3, bias=False", "6, 2, groups=2",
                      "4, 3, stride=2, output_padding=1", "4, 2, dilation=2")],
    *[(dims, layer) for dims in (4, 5)
      for layer in ("nn.MaxPool3d(2)", "nn.MaxPool3d(3, stride=1, padding=1)",
                    "nn.MaxPool3d(2, dilation=2, ceil_mode=True)", "nn.AvgPool3d(2)",
                    "nn.AvgPool3d(3, stride=2, padding=1, count_include_pad=False)",
                    "nn.AdaptiveAvgPool3d(1)", "nn.AdaptiveAvgPool3d((2, 3, 1))")],
    (5, "nn.BatchNorm3d(8)"), (5, "nn.BatchNorm3d(8, affine=False)"), (5, "nn.InstanceNorm3d(8)"),
    (5, "nn.InstanceNorm3d(8, affine=True)"), (5, "nn.GroupNorm(2, 8)"), (5, "nn.Dropout3d(0.5)"),
    (5, "nn.Dropout(0.5)"), (5, "nn.ReLU()"), (4, "nn.Conv3d(8, 6, 3, padding=1)"),
]
HAVE_NO_PARAMETERS = ("Pool", "Dropout", "ReLU", "affine=False", "nn.InstanceNorm3d(8)")


def volume_program(rng):
    """A layer of volumes and its gradient, with cuDNN or without."""
    program = Program(rng)
    if rng.random() < 0.5:
        program.add("torch.backends.cudnn.enabled = True")
    dims, layer = rng.choice(VOLUMES)
    shape = [rng.choice((1, 2, 3)), 8] if dims == 5 else [8]
    shape += [rng.choice((3, 4, 5, 6)) for _ in range(3)]
    options, grad = options_of(rng, ("float32", "float32", "float16", "bfloat16", "float64"))
    leaf = program.tensor("x", shape, options + grad, rng.choice(LAYOUTS))
    dtype = options.removeprefix('device="cuda"')
    placed = "" if any(part in layer for part in HAVE_NO_PARAMETERS) else f', device="cuda"{dtype}'
    program.add(f"m = {layer[:-1]}{placed})")
    if rng.random() < 0.2:
        program.add("m.eval()")
    program.add("y = m(x)")
    program.add("layout(y)")
    if rng.random() < 0.3 and leaf != "x":
        program.add("del x")
    if grad or placed:
        program.backward("y")
    return program.lines


# Windows as columns, maxima of split images, moved pixels and channels, grids and what is sampled at
# them. With 8 channels; {h} and {w} are the sizes of x, g is a grid, theta are affine maps.
SAMPLED = [
    *[(dims, f"F.unfold(x, {sizes})") for dims in (3, 4)
      for sizes in ("2", "3, stride=3", "(2, 3), padding=1", "2, dilation=2, stride=(1, 2)", "1", "4, stride=2")],
    *[(dims, f"nn.Unfold({sizes})") for dims in (3, 4) for sizes in ("3, padding=1", "2, stride=2")],
    *[(2, "F.fold(x, (4, 5), 2)"), (2, "F.fold(x, (4, 8), 2, stride=2)"), (2, "nn.Fold((3, 4), (2, 1))"),
      (2, "F.fold(x, 5, 2, padding=1, dilation=2)"), (2, "F.fold(x, (6, 7), 2, stride=3)")],
    *[(dims, f"{name}({size})") for dims in (3, 4)
      for name in ("nn.AdaptiveMaxPool2d",) for size in ("1", "3", "(2, 5)", "8")],
    *[(dims, f"F.adaptive_max_pool2d(x, {size})") for dims in (3, 4) for size in ("2", "(3, 1)")],
    *[(dims, f"{call}") for dims in (2, 3) for call in ("nn.AdaptiveMaxPool1d(2)", "F.adaptive_max_pool1d(x, 5)")],
    (4, "F.pixel_unshuffle(x, 1)"), (4, "F.pixel_unshuffle(torch.cat([x, x], dim=3).narrow(3, 0, {w} // 2 * 2).narrow(2, 0, {h} // 2 * 2), 2)"),
    (4, "nn.PixelUnshuffle(1)"), *[(dims, f"torch.channel_shuffle(x, {groups})") for dims in (3, 4) for groups in (1, 2, 4)],
    (4, "nn.ChannelShuffle(2)"),
    *[(dims, f"nn.LocalResponseNorm({size})") for dims in (3, 4) for size in ("2", "3, alpha=0.1", "5, beta=0.5")],
    *[(dims, f"F.gumbel_softmax(x{more})") for dims in (2, 3, 4)
      for more in ("", ", tau=0.5", ", hard=True", ", dim=1", ", hard=True, dim=0")],
    (4, "nn.Softmax2d()"), (3, "nn.Softmax2d()"),
    (4, "nn.UpsamplingNearest2d(scale_factor=2)"), (4, "nn.UpsamplingNearest2d(size=(5, 9))"),
    (4, "nn.UpsamplingBilinear2d(scale_factor=2)"), (4, "nn.UpsamplingBilinear2d(size=(5, 9))"),
    *[(4, f'F.grid_sample(x, g, mode="{mode}", padding_mode="{padding}", align_corners={corners})')
      for mode in ("bilinear", "bilinear", "nearest", "bicubic") for padding in ("zeros", "zeros", "border", "reflection")
      for corners in (True, False)],
    *[(4, f"F.affine_grid(theta, ({{n}}, 8, {sizes}), align_corners={corners})")
      for sizes in ("5, 6", "1, 4", "7, 1", "20, 30") for corners in (True, False)],
    *[(4, f"F.grid_sample(x, F.affine_grid(theta, ({{n}}, 8, 6, 5), align_corners={corners}), align_corners={corners})")
      for corners in (True, False)],
]


def sampled_program(rng):
    program = Program(rng)
    dims, expression = rng.choice(SAMPLED)
    if rng.random() < 0.5:
        program.add("torch.backends.cudnn.enabled = True")
    shape = [rng.choice((1, 2, 4)), 8] + [rng.choice((5, 6, 7, 8)) for _ in range(dims - 2)]
    if "old(" in expression and "unf" not in expression.lower():
        windows = {"(4, 5), 2": 12, "(4, 8)": 8, "(3, 4)": 8, "5, 2": 25, "(6, 7)": 4}
        count = next(count for text, count in windows.items() if text in expression)
        shape = [rng.choice(([2, 8, count], [8, count], [1, 8, count], [3, 16, count]))][0]
    expression = expression.replace("{n}", str(shape[0])).replace("{h}", str(shape[-2])).replace("{w}", str(shape[-1]))
    options, grad = options_of(rng, ("float32", "float32", "float16", "bfloat16", "float64"))
    own_grad = grad if rng.random() < 0.7 else ""
    needs_x = "(x" in expression or "[x" in expression or "nn." in expression
    if needs_x:
        program.tensor("x", shape, options + own_grad, rng.choice(LAYOUTS))
    if "x, g," in expression:
        points = [shape[0], rng.choice((1, 3, 6)), rng.choice((1, 4, 5)), 2]
        program.tensor("g", points, options + grad, rng.choice(("plain", "plain", "transposed", "sliced")))
    if "theta" in expression:
        program.tensor("theta", [shape[0], 2, 3], options + grad, rng.choice(("plain", "transposed", "sliced", "expanded")))
    if expression.startswith("nn."):
        program.add(f"m = {expression}")
        expression = "m(x)"
    if rng.random() < 0.15:
        program.add(f'with torch.autocast("cuda", dtype=torch.{rng.choice(("float16", "bfloat16"))}): y = {expression}')
    else:
        program.add(f"y = {expression}")
    program.add("layout(y)")
    if rng.random() < 0.2 and any(line.startswith("x = ") for line in program.lines) and any(
            line.startswith("x0 =") for line in program.lines):
        program.add("del x")
    if grad and (own_grad if "g" not in expression.split("(x")[-1] else True):
        program.backward("y")
    return program.lines


# What programs write every day, of tensors in any layout.
EVERYDAY = [
    *[(1, f"torch.{name}_like(x{more})") for name in ("zeros", "ones", "empty", "rand", "randn")
      for more in ("", ", dtype=torch.float16")],
    (1, "torch.full_like(x, 2.0)"), (1, "x.new_zeros(2, 3)"), (1, "x.new_ones(x.shape)"), (1, "x.half()"),
    (1, "x.to(torch.float64)"), (1, "x.half().float()"), (1, "x.double() + w"), (1, "x.half() * w.float()"),
    (1, "x.bfloat16() - w.half()"), (1, "(x > w).float()"), (1, "(x > 0).sum()"), (1, "(x > 0).float().mean()"),
    (1, "x.eq(w)"), (1, "x.ne(w).sum()"), (1, "x.long()"), (1, "x.long() + 1"), (1, "x.long() * x"), (1, "x.long() / 2"),
    (1, "x.argsort(dim=0)"), (2, "x.sort(dim=0, descending=True)[0]"), (2, "x.topk(1)[1]"), (2, "x.argmax(dim=-1)"),
    (2, "x.chunk(2, dim=0)[0]"), (2, "x.split(1, dim=-1)[0]"), (2, "x.unbind(-1)[0]"), (1, "torch.stack([x, x, w], dim=-1)"),
    (1, "torch.cat([x, w, x], dim=-1)"), (1, "torch.cat([x.half(), w.float()], dim=0)"), (1, "x.squeeze()"), (2, "x.squeeze(0)"),
    (1, "x.reshape(-1)"), (1, "x.reshape(-1, 1)"), (2, "x.flatten(-2)"), (1, "x.exp().log()"), (1, "x.clone()"),
    (1, "x.detach() * w"), (2, "x.sum(dim=(0, 1))"), (2, "x.mean(dim=(0, -1), keepdim=True)"), (2, "x.std(dim=(0, 1))"),
    (1, "x.sum(dtype=torch.float64)"), (1, "x.norm(p=1)"), (2, "x.norm(p=1, dim=-1)"), (2, "x.norm(p=2, dim=0, keepdim=True)"),
    (1, 'x.masked_fill(keep, float("-inf"))'), (1, "torch.where(x > 0, x, w)"), (1, "torch.where(keep, x, torch.zeros_like(x))"),
    (1, "x.clamp_min(0)"), (1, "F.leaky_relu(x, 0.1)"), (1, "F.gelu(x, approximate=\"tanh\")"), (1, "F.softplus(x)"),
    (2, "torch.softmax(x.float(), -1).half()"), (2, "F.softmax(x, dim=-1) @ w.transpose(-2, -1)"),
    (2, "x[0]"), (2, "x[:, 0]"), (2, "x[..., 0]"),
    (2, "x[:, line]"), (2, "x.index_select(-1, line)"), (1, "x * 2 + 1"), (1, "1 - x"), (1, "2 / (x * x + 1)"), (1, "-x"),
    (1, "x * x.sigmoid()"), (1, "(x - w).abs().mean()"), (1, "(x - x.mean()) / (x.std() + 1e-5)"),
    (2, "(x - x.mean(-1, keepdim=True)) / x.var(-1, keepdim=True)"), (1, "x.pow(2).mean().sqrt()"), (1, "x.sum().item() + x"),
    (2, "x.max(dim=-1, keepdim=True)[0] - x"), (2, "F.normalize(x, dim=-1) @ F.normalize(w, dim=-1).transpose(-2, -1)"),
    (2, "torch.tril(torch.ones_like(x)) * x"), (1, "torch.cumsum(x, 0) / 3"), (1, "F.dropout(F.relu(x), 0.1, True) + w"),
    (2, "torch.outer(x.reshape(-1), w.reshape(-1))"), (1, "torch.dot(x.reshape(-1), w.reshape(-1))"), (1, "torch.sigmoid(x) * torch.tanh(w)"),
    (1, "torch.exp(x - x.max())"), (2, "torch.logsumexp(x, dim=(0, 1))"), (1, "x.float().cpu()"),
    (2, "x.repeat_interleave(2, dim=0)"), (1, "x.roll(1)"), (1, "x.view_as(x.contiguous())"),
]


def everyday_program(rng):
    program = Program(rng)
    least, expression = rng.choice(EVERYDAY)
    leaf, has_grad = operands(program, rng.randint(least, max(least, 4)), expression)
    program.add(f"y = {expression}")
    program.add("layout(y)")
    if rng.random() < 0.3:
        program.add("y = y * 2.0")
    if has_grad and not any(part in expression for part in ("_like(x", "new_", "long()", "eq(", "ne(", "(x > ")):
        program.backward("y")
    return program.lines


# Further functions, of x in any layout: special ones and those of two tensors, diagonals and
# products, parts and what they are put together to. (least and most dimensions, expression)
FURTHER = [
    *[(1, 4, f"torch.{name}(x)") for name in (
        "asinh", "acosh", "atanh", "erfc", "erfinv", "lgamma", "digamma", "sinc", "trunc", "frac", "logit",
        "deg2rad", "rad2deg")],
    *[(1, 3, f"(x * 2.0).{name}_()") for name in (
        "erfc", "erfinv", "lgamma", "digamma", "sinc", "trunc", "frac", "logit")],
    *[(1, 4, f"torch.{name}(x, w)") for name in ("logaddexp", "logaddexp2", "hypot", "fmod", "copysign", "float_power")],
    (1, 4, "torch.fmod(x, 2.0)"), (1, 4, "torch.copysign(x, -1.0)"), (1, 4, "x.float_power(2)"),
    (1, 4, "x.float_power(0.5)"), (1, 3, "torch.logit(x, eps=0.1)"), (1, 3, "torch.heaviside(x, x)"),
    (2, 4, "x.fliplr()"), (1, 4, "x.flipud()"),
    *[(2, 4, f"x.rot90({k}, (0, 1))") for k in (0, 1, 2, 3, -1)], (3, 4, "torch.rot90(x, 1, (2, 0))"),
    (1, 1, "x.diag()"), (1, 1, "x.diag(1)"), (1, 1, "x.diag(-2)"), (2, 2, "x.diag()"), (2, 2, "x.diag(1)"),
    (2, 2, "torch.diag(x, -1)"), (1, 3, "torch.diag_embed(x)"), (1, 3, "x.diag_embed(offset=-1)"),
    (2, 3, "x.diag_embed(offset=1, dim1=0, dim2=2)"), (1, 2, "torch.diagflat(x)"), (2, 2, "x.trace()"),
    (2, 3, "torch.tensor_split(x, 3)[0]"), (2, 3, "x.tensor_split(2, dim=1)[1]"),
    (2, 3, "x.tensor_split(indices=(1, 3), dim=1)[1]"), (1, 3, "torch.hsplit(x, 1)[0]"), (2, 3, "x.vsplit(1)[0]"),
    (3, 4, "x.dsplit(1)[0]"), (1, 3, "torch.hsplit(x, indices=(1,))[1]"),
    (1, 3, "torch.atleast_3d(x)"), (1, 3, "torch.atleast_2d(x) * 2.0"), (1, 3, "torch.dstack([x, w])"),
    (1, 2, "torch.column_stack([x, w])"), (1, 1, "torch.cartesian_prod(x, w)"), (1, 2, "torch.block_diag(x, w)"),
    (1, 2, "torch.block_diag(x, w, x)"), (1, 3, "torch.inner(x, w)"), (1, 1, "torch.vdot(x, w)"),
    (1, 4, "torch.kron(x, w)"), (1, 4, "torch.cross(x, w, dim=0)"), (1, 3, "torch.cross(x, w)"),
    (1, 3, "torch.tensordot(x, w, dims=0)"), (2, 2, "torch.tensordot(x, w.transpose(0, 1), dims=1)"),
    (3, 3, "torch.tensordot(x, w.permute(1, 2, 0), dims=2)"),
    *[(1, 3, f"x.{name}(dim={dim})[0]") for name in ("cummax", "cummin", "median", "mode") for dim in (0, -1)],
    *[(1, 3, f"x.float().logcumsumexp(dim={dim})") for dim in (0, -1)], (1, 3, "x.median()"), (1, 3, "x.kthvalue(1)[0]"),
    (2, 3, "x.kthvalue(1, dim=0, keepdim=True)[0]"), (2, 3, "torch.mode(x, dim=0, keepdim=True)[0]"), (1, 3, "x.msort()"),
    *[(1, 3, f"torch.{name}(x{dim})[{number}]") for name in ("var_mean", "std_mean") for dim in ("", ", dim=-1", ", dim=0, keepdim=True")
      for number in (0, 1)],
    *[(1, 3, f"torch.{name}(x{dim})") for name in ("nansum", "nanmean") for dim in ("", ", dim=-1", ", dim=0, keepdim=True")],
    (1, 3, "torch.count_nonzero(x)"), (1, 3, "x.count_nonzero(dim=0)"),
    (2, 3, "x.index_fill(0, line, 0.5)"), (2, 3, "x.index_fill(1, line, 2.0)"), (2, 3, "x.index_copy(0, line, w.narrow(0, 0, 1))"),
    (2, 3, "(x * 2.0).index_fill_(0, line, 0.5)"), (2, 3, "(x * 2.0).index_copy_(1, line, w.narrow(1, 0, 1))"),
    (1, 3, "x.masked_scatter(keep, w)"), (1, 3, "(x * 2.0).masked_scatter_(keep, w)"),
    *[(1, 3, f'x.scatter_reduce(0, ids, w, "{reduce}"{more})') for reduce in ("sum", "mean", "amax", "amin")
      for more in ("", ", include_self=False")], (2, 3, 'torch.scatter_reduce(x, 1, ids, w, "mean")'),
    (1, 3, "torch.searchsorted(x.detach(), w.detach())"), (1, 3, "torch.searchsorted(x, w.detach().double(), right=True, out_int32=True)"),
    (1, 1, "torch.searchsorted(x, 0.5)"), (1, 3, "torch.bucketize(x, w.flatten())"), (1, 3, "torch.isin(x, w.flatten().narrow(0, 0, 1))"),
    (1, 3, "torch.isin(x, 0.5, invert=True)"), (1, 3, "torch.histc(x.float())"), (1, 3, "torch.histc(x.float(), bins=20, min=-1, max=2)"),
    (1, 3, "torch.bincount(ids.flatten())"), (1, 3, "torch.bincount(ids.flatten(), minlength=40)"),
    (1, 3, "torch.bincount(ids.flatten(), weights=w.detach().flatten())"), (1, 3, "torch.argwhere(keep)"),
    *[(1, 3, f"(x * 2.0).{name}_()") for name in ("sinh", "cosh", "asin", "acos", "atan", "exp2", "square", "bernoulli", "exponential")],
    (1, 3, "x.diff()"), (1, 3, "torch.diff(x, n=2, dim=0)"), (1, 3, "torch.diff(x, prepend=w, append=x)"), (1, 2, "x.diff(n=0)"),
    (1, 3, "(x * 2.0).pow_(3)"), (1, 3, "(x * 2.0).clamp_min_(0.1)"), (1, 3, "(x * 2.0).clamp_max_(0.1)"),
    (2, 3, "(x * 2.0).triu_(1)"), (2, 3, "(x * 2.0).tril_()"), (2, 3, "(x * 2.0).transpose(0, 1).tril_(-1)"),
    *[(1, 3, f"keep.logical_{name}_(keep)") for name in ("and", "or", "xor")], (1, 3, "keep.logical_not_()"),
    *[(1, 4, f"torch.{name}(x, w)") for name in ("fmax", "fmin")], (1, 3, "torch.isposinf(x)"), (1, 3, "x.isneginf()"),
    *[(1, 3, f"x.index_put((line,), {values}{more})") for values in ("w.narrow(0, 0, 1)", "w.select(0, 0)")
      for more in ("", ", accumulate=True")],
    *[(2, 3, f"x.index_put((line, line), w.select(0, 0).select(0, 0){more})") for more in ("", ", accumulate=True")],
    *[(1, 3, f"(x * 2.0).index_put_((line,), w.narrow(0, 0, 1){more})") for more in ("", ", accumulate=True")],
    (1, 3, "x.index_put((keep,), w.flatten().narrow(0, 0, 1))"),
    (1, 3, "torch.take(x, ids)"), (1, 3, "x.take(line)"), (1, 3, "x.put(ids, w)"), (1, 3, "x.put(ids, w, accumulate=True)"),
    (1, 3, "(x * 2.0).put_(ids, w)"), (1, 3, "x.put(ids.flatten(), w)"),
    *[(1, 3, f'(x * 2.0).scatter_reduce_(0, ids, w, "{reduce}"{more})') for reduce in ("sum", "mean", "amax", "amin")
      for more in ("", ", include_self=False")],
    *[(2, 2, f"torch.addmv({bias}, x, w.select(0, 0){more})") for bias in ("x.select(1, 0)", "w.select(1, 0)", "x.select(1, 0).narrow(0, 0, 1)")
      for more in ("", ", beta=0.5, alpha=2.0")], (2, 2, "torch.mv(x, w.select(0, 0))"), (2, 2, "torch.mv(x.transpose(0, 1), w.select(1, 0))"),
    *[(2, 2, f"torch.addr(x, w.select(1, 0), x.select(0, 0){more})") for more in ("", ", beta=0.5, alpha=2.0")],
    (1, 1, "torch.addr(x, x, w)"),
    *[(1, 3, f"torch.{name}trapezoid({arguments})") for name in ("", "cumulative_")
      for arguments in ("x", "x, w", "x, dx=0.5", "x, dim=0", "x, w, dim=0")], (2, 3, "torch.trapezoid(x, w.select(0, 0))"),
    (1, 3, "torch.unique(x.detach().float())"), (1, 3, "x.detach().double().unique()"), (1, 3, "torch.unique(ids)"),
    (1, 3, "torch.unique(x.detach().float(), return_inverse=True)"), (1, 3, "torch.unique(ids, return_inverse=True, return_counts=True)"),
    (1, 3, "torch.unique(x.detach().double(), return_counts=True)"), (1, 3, "torch.unique_consecutive(x.detach())"),
    (1, 3, "torch.unique_consecutive(x.detach(), return_inverse=True, return_counts=True)"), (1, 3, "keep.unique_consecutive()"),
    (1, 3, "torch.unique(x.detach())"), (1, 3, "torch.unique(x.detach(), return_inverse=True)"), (1, 3, "keep.unique()"),
    (1, 3, "torch.unique(keep.transpose(0, -1), return_counts=True)"), (1, 3, "keep.unique(return_inverse=True)"),
    (1, 3, "ids.to(torch.uint8).unique(return_inverse=True)"),
    *[(1, 3, f"torch.{name}(x.float(), 0.3{more})") for name in ("quantile", "nanquantile")
      for more in ("", ", dim=0", ", dim=-1, keepdim=True", ', dim=0, interpolation="lower"',
                   ', interpolation="midpoint"', ', dim=-1, interpolation="nearest"', ', keepdim=True')],
    *[(1, 3, f"torch.{name}(x.double(), torch.rand(3, device='cuda', dtype=torch.float64){more})")
      for name in ("quantile", "nanquantile") for more in ("", ", dim=0, keepdim=True", ", dim=-1")],
    (1, 3, "x.nanmedian()"), (1, 3, "torch.nanmedian(x, dim=0)[0]"), (1, 3, "x.nanmedian(dim=-1, keepdim=True)[0]"),
    *[(1, 1, f'torch.{name}_indices({sizes}, device="cuda")') for name in ("tril", "triu")
      for sizes in ("4, 5", "7, 3, 1", "3, 8, -1", "40, 40", "2, 3, offset=-3")],
    (1, 3, "torch.slice_scatter(x, w.narrow(0, 0, 1), 0, 0, 1)"), (2, 3, "x.slice_scatter(w, dim=1)"),
    (2, 3, "torch.select_scatter(x, w.select(0, 0), 0, 0)"), (2, 3, "x.select_scatter(w.select(1, 0), 1, -1)"),
    (2, 3, "torch.diagonal_scatter(x, w.diagonal())"), (2, 2, "x.diagonal_scatter(w.diagonal(1), offset=1)"),
    (2, 2, "(x * 2.0).fill_diagonal_(0.5)"), (2, 2, "(x @ x.transpose(0, 1)).fill_diagonal_(0)"),
    (1, 3, "(x * 2.0).nan_to_num_()"), (1, 3, "x.put(ids, w * 3.0)"),
    (1, 3, "(x * 2.0).index_put((line,), w.narrow(0, 0, 1) * 3.0)"), (1, 3, "torch.take(x * 2.0, ids)"),
    (1, 3, "(x * 2.0).addcdiv_(x, w, value=0.5)"), (1, 3, "(x * 2.0).addcdiv_(w, w)"),
    *[(1, 3, f"torch.dist(x, w{p})") for p in ("", ", p=1", ', p=float("inf")')],
    *[(1, 3, f"torch.{name}(ids, {other})") for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift")
      for other in ("ids.int()", "2")], (1, 3, "ids.bitwise_not()"), (1, 3, "torch.gcd(ids, ids.int())"), (1, 3, "ids.lcm(ids)"),
    *[(1, 3, f"torch.norm(x, {p}{more})") for p in ("3", "1.5", "0.5", '-float("inf")')
      for more in ("", ", dim=0", ", dim=-1, keepdim=True")],
    *[(2, 2, f"torch.linalg.matrix_norm(x{more})") for more in ("", ", ord=1", ', ord=-float("inf")', ", ord=1, keepdim=True")],
    (1, 3, "torch.linalg.norm(x)"), (1, 3, "torch.linalg.vector_norm(x, ord=3, dim=0)"),
    (2, 2, "torch.cov(x.float())"), (2, 2, "torch.corrcoef(x.float())"), (1, 1, "torch.cov(x.double())"),
    *[(2, 2, f"(x @ w.transpose(0, 1)).addmm_(x, w.transpose(0, 1){more})") for more in ("", ", beta=0.5, alpha=2.0")],
    (2, 2, "(x @ w.select(0, 0)).addmv_(x, w.select(0, 0))"), (2, 2, "(x * 2.0).addr_(w.select(1, 0), x.select(0, 0))"),
    (3, 3, "torch.bmm(x, w.transpose(1, 2)).baddbmm_(x, w.transpose(1, 2), beta=0.5)"),
    *[(3, 3, f"torch.addbmm(x.select(0, 0).select(1, 0).unsqueeze(1), x, w.transpose(1, 2){more})") for more in ("", ", beta=0.5, alpha=2.0")],
    *[(3, 3, f'F.interpolate(x, {size}, mode="{mode}")') for size in ("size=7", "scale_factor=2.0", "size=1") for mode in ("linear", "nearest", "area")],
    *[(1, 3, f'x.index_reduce(0, line, w.narrow(0, 0, 1), "{reduce}"{more})') for reduce in ("prod", "mean", "amax", "amin")
      for more in ("", ", include_self=False")], (1, 3, '(x * 2.0).index_reduce_(0, line, w.narrow(0, 0, 1), "amax")'),
    (2, 2, 'torch.cdist(x.float(), w.float().unsqueeze(0))'), (3, 3, 'torch.cdist(x.float(), w.float().select(0, 0), p=1.0)'),
]
FURTHER_OF_ONE_SHAPE = ("put", "addmm_", "bmm", "cdist", "addmv", "addr", "addcdiv_", "mv(", "trapezoid", "sorted", "diff", "bincount", "index", "scatter", "stack", "cartesian", "block_diag", "inner", "vdot", "tensordot")
FURTHER_WITHOUT_GRADIENT = ("heaviside", "count_nonzero", ".histc(", "searchsorted",
                            "bucketize", "argwhere", "isin(", "bincount", "logical", "isposinf", "isneginf", "unique", "_indices(", "bitwise", "gcd(", "lcm(")


def further_program(rng):
    program = Program(rng)
    least, most, expression = rng.choice(FURTHER)
    shape, (options, grad) = shape_of(rng, rng.randint(least, most)), options_of(rng)
    if "cross" in expression:
        shape[0] = 3
    program.tensor("x", shape, options + grad, rng.choice(LAYOUTS))
    if "w" in expression.replace("float_power", "").replace("argwhere", "").replace("pow_", "").replace("narrow", "").replace("bitwise", ""):
        other = list(shape)
        if rng.random() < 0.3 and not any(part in expression for part in FURTHER_OF_ONE_SHAPE):
            other = [1 if rng.random() < 0.5 and size != 3 else size for size in shape]
        program.tensor("w", other, options + (grad if rng.random() < 0.6 else ""), rng.choice(LAYOUTS))
    sizes = ", ".join(map(str, shape))
    if "keep" in expression.replace("keepdim", ""):
        program.add(f'keep = torch.zeros({sizes}, dtype=torch.bool, device="cuda")')
    if "ids" in expression:
        program.add(f'ids = torch.zeros({sizes}, dtype=torch.long, device="cuda")')
    if "line" in expression:
        program.add('line = torch.zeros(1, dtype=torch.long, device="cuda")')
    if rng.random() < 0.15 and "unique" not in expression:
        program.add(f'with torch.autocast("cuda", dtype=torch.{rng.choice(("float16", "bfloat16"))}): y = {expression}')
    elif "unique" in expression:
        parts = "".join(f", {part}" for part in ("inverse", "counts") if f"return_{part}" in expression)
        program.add(f"y{parts} = {expression}")
        return program.lines  # how many there are is not seen without a card
    else:
        program.add(f"y = {expression}")
    program.add("layout(y)")
    if rng.random() < 0.2:
        program.add("y = y * 2.0")
    if grad and not any(part in expression for part in FURTHER_WITHOUT_GRADIENT):
        program.backward("y")
    return program.lines


# Losses of two or three tensors: x and w are scores, t what they are compared with, c classes.
COMPARED = [
    *[f'{call}{more}, reduction="{reduction}")' for reduction in ("mean", "sum", "none")
      for call, more in (
          ("F.soft_margin_loss(x, t", ""),
          ("F.multi_margin_loss(x, c", ""), ("F.multi_margin_loss(x, c, p=2", ", margin=0.5"),
          ("F.multi_margin_loss(x, c", ", weight=u"), ("F.cosine_embedding_loss(x, w, s", ""),
          ("F.cosine_embedding_loss(x, w, s, margin=0.5", ""),
          ("F.gaussian_nll_loss(x, w, v", ""), ("F.gaussian_nll_loss(x, t, v", ", full=True"),
          ("F.gaussian_nll_loss(x, w, r", ""), ("F.gaussian_nll_loss(x, t, o", ", eps=1e-3"))],
]


def compared_program(rng):
    program = Program(rng)
    expression = rng.choice(COMPARED)
    shape = [rng.choice((1, 2, 3, 8, 40)), rng.choice((1, 2, 5, 8, 30))]
    options, grad = options_of(rng, ("float32", "float32", "float16", "bfloat16", "float64"))
    own_grads = [grad if rng.random() < 0.6 else "" for _ in range(2)]
    program.tensor("x", shape, options + (grad or ""), rng.choice(LAYOUTS))
    arguments = expression[expression.index("("):]
    for name, sizes in (("w", shape), ("t", shape), ("v", shape), ("r", shape[:1]), ("o", [shape[0], 1])):
        if f", {name}," in arguments or f", {name})" in arguments:
            with_grad = own_grads[0] if name != "t" else ""
            program.tensor(name, sizes, options + with_grad, rng.choice(("plain", "transposed", "sliced", "expanded")))
    if ", s," in arguments:
        program.add(f"s = torch.ones({shape[0]}, {options})")
    if ", c," in arguments:
        program.add(f'c = torch.zeros({shape[0]}, dtype=torch.long, device="cuda")')
    if "=u" in arguments:
        program.add(f"u = torch.ones({shape[1]}, {options})")
    if rng.random() < 0.2:
        program.add(f'with torch.autocast("cuda", dtype=torch.{rng.choice(("float16", "bfloat16"))}): y = {expression}')
    else:
        program.add(f"y = {expression}")
    program.add("layout(y)")
    if grad:
        program.backward("y")
    return program.lines


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


KINDS = {
    "ops": op_program,
    "modules": module_program,
    "modules with cuDNN": cudnn_program,
    "lifetimes": lifetime_program,
    "graphs": graph_program,
    "autocast": autocast_program,
    "in place": in_place_program,
    "no elements": empty_program,
    "modes": modes_program,
    "training": training_program,
    "streams": streams_program,
    "attention": attention_program,
    "pairs": pairs_program,
    "second gradients": second_gradient_program,
    "second gradients of layers": layer_second_gradient_program,
    "shapes": shaped_program,
    "padding and resizing": padded_program,
    "volumes": volume_program,
    "everyday": everyday_program,
    "further": further_program,
    "sampling": sampled_program,
    "losses with margins": compared_program,
    "normalised weights": normed_program,
    "recurrent layers": recurrent_program,
    "encoders in evaluation": encoder_program,
    "sequences without a batch": unbatched_program,
    "averages of weights": averaging_program,
    "pooling by powers": pooled_program,
    "contractions": contracted_program,
    "indexing": indexed_program,
    "promotions": promoted_program,
    "sizes": sized_program,
    "optimizers": optimized_program,
    "failures": failing_program,
    "failed steps": failing_steps,
    "failed modules": failing_modules,
}


def generate(kind, seed):
    return KINDS[kind](random.Random(f"{kind} {seed}"))
