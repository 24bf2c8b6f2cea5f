"""Ops on tensors of all sizes: kernels of several passes, their scratch, and where one begins."""
from random_program import LAYOUTS, Program, options_of

# (dimensions, expression, whether it has a gradient)
OPS = [
    *[(dims, f"x.{name}({arguments})", True) for name in ("sum", "mean", "amax", "norm", "logsumexp", "var", "std", "prod")
      for dims, arguments in ((1, "dim=0"), (2, "dim=0"), (2, "dim=1"), (3, "dim=1"), (3, "dim=-1, keepdim=True"))],
    *[(dims, f"x.{name}()", True) for name in ("sum", "mean", "max", "norm", "var", "std") for dims in (1, 2, 3)],
    *[(dims, f"x.{name}(dim={dim})[0]", True) for name in ("max", "min", "median", "mode", "sort", "cummax", "kthvalue")
      for dims, dim in ((1, 0), (2, 0), (2, 1), (3, 1))],
    *[(dims, f"x.{name}(dim={dim})", True) for name in ("cumsum", "softmax", "log_softmax", "logcumsumexp")
      for dims, dim in ((1, 0), (2, 0), (2, 1), (3, 1))],
    (1, "x.topk(3)[0]", True), (2, "x.topk(3, dim=1)[0]", True), (2, "x.topk(3, dim=0)[0]", True), (1, "x.argsort()", False),
    (2, "x.argmax(dim=0)", False), (2, "x.argmax()", False), (1, "torch.histc(x, 20)", False),
    (2, "F.layer_norm(x, (WIDTH,))", True), (3, "F.layer_norm(x, (WIDTH,))", True), (3, "F.group_norm(x, 1)", True),
    (2, "x.any()", False), (2, "(x > 0).any(dim=0)", False),
    (2, "torch.cat([x, x, x])", True), (1, "torch.stack([x, x])", True), (2, "F.cross_entropy(x, ids)", True),
    (2, "F.embedding(ids, x)", True), (2, "x[ids]", True), (2, "x.index_select(0, ids)", True), (2, "x.index_add(0, ids, x)", True),
    (2, "F.normalize(x, dim=1)", True), (2, "x.count_nonzero()", False),
    (1, "torch.nn.functional.mse_loss(x, x * 2.0)", True), (2, "x.t().contiguous()", True), (2, "x.sum(dim=(0, 1))", True),
    (1, "torch.bincount(ids)", False), (1, "torch.multinomial(torch.ones_like(x), 2)", False), (1, "torch.randperm(x.numel(), device=\"cuda\")", False),
    (2, "x.std(dim=0)", True), (2, "torch.cdist(x, x)", True), (2, "x.flip(0)", True), (3, "x.roll(1, 1)", True),
]


def size_of(rng, most):
    """Sizes of every magnitude, and those around a power of two."""
    if rng.random() < 0.4:
        return max(1, 2 ** rng.randint(0, most) + rng.choice((-1, 0, 1)))
    return int(2 ** rng.uniform(0, most))


def sized_program(rng):
    """One op on a tensor of any size, and its gradient."""
    program = Program(rng)
    dims, expression, has_gradient = rng.choice(OPS)
    options, grad = options_of(rng)
    left, shape = 20 if "cdist" not in expression else 12, []
    for _ in range(dims):
        shape.append(size_of(rng, left))
        left = max(0, left - shape[-1].bit_length())
    if dims > 1:
        rng.shuffle(shape)
    if "topk" in expression:
        shape = [size + 3 for size in shape]
    if "kthvalue" in expression:
        expression = expression.replace("kthvalue(dim", "kthvalue(1, dim")
    program.tensor("x", shape, options + grad, rng.choice(LAYOUTS))
    if "ids" in expression:
        program.add(f'ids = torch.zeros({shape[0]}, dtype=torch.long, device="cuda")')
    program.add(f"y = {expression.replace('WIDTH', str(shape[-1]))}")
    program.add("layout(y)")
    if grad and has_gradient:
        program.add(rng.choice(("y.sum().backward()", "y.backward(torch.ones_like(y))")))
    return program.lines
