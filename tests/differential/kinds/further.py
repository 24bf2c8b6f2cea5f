"""Special functions, orders, counts, searches, whole numbers, parts of tensors."""
from random_program import LAYOUTS, Program, options_of, shape_of

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
    (1, 3, "(x * 2.0).pow_(3)"), (1, 3, "(x * 2.0).clamp_min_(0.1)"), (1, 3, "(x * 2.0).clamp_max_(0.1)"),
    (2, 3, "(x * 2.0).triu_(1)"), (2, 3, "(x * 2.0).tril_()"), (2, 3, "(x * 2.0).transpose(0, 1).tril_(-1)"),
    *[(1, 3, f"keep.logical_{name}_(keep)") for name in ("and", "or", "xor")], (1, 3, "keep.logical_not_()"),
    *[(1, 4, f"torch.{name}(x, w)") for name in ("fmax", "fmin")], (1, 3, "torch.isposinf(x)"), (1, 3, "x.isneginf()"),
    *[(1, 3, f"x.index_put((line,), {values}{more})") for values in ("w.narrow(0, 0, 1)", "w.select(0, 0)")
      for more in ("", ", accumulate=True")],
    *[(2, 3, f"x.index_put((line, line), w.select(0, 0).select(0, 0){more})") for more in ("", ", accumulate=True")],
    *[(1, 3, f"(x * 2.0).index_put_((line,), w.narrow(0, 0, 1){more})") for more in ("", ", accumulate=True")],
    (1, 3, "x.index_put((keep,), w.flatten().narrow(0, 0, 1))"),
    *[(1, 3, f'(x * 2.0).scatter_reduce_(0, ids, w, "{reduce}"{more})') for reduce in ("sum", "mean", "amax", "amin")
      for more in ("", ", include_self=False")],
    *[(2, 2, f"torch.addmv({bias}, x, w.select(0, 0){more})") for bias in ("x.select(1, 0)", "w.select(1, 0)", "x.select(1, 0).narrow(0, 0, 1)")
      for more in ("", ", beta=0.5, alpha=2.0")], (2, 2, "torch.mv(x, w.select(0, 0))"), (2, 2, "torch.mv(x.transpose(0, 1), w.select(1, 0))"),
    *[(2, 2, f"torch.addr(x, w.select(1, 0), x.select(0, 0){more})") for more in ("", ", beta=0.5, alpha=2.0")],
    (1, 1, "torch.addr(x, x, w)"),
    (1, 3, "torch.unique(x.detach().float())"), (1, 3, "x.detach().double().unique()"), (1, 3, "torch.unique(ids)"),
    (1, 3, "torch.unique(x.detach().float(), return_inverse=True)"), (1, 3, "torch.unique(ids, return_inverse=True, return_counts=True)"),
    (1, 3, "torch.unique(x.detach().double(), return_counts=True)"), (1, 3, "torch.unique_consecutive(x.detach())"),
    (1, 3, "torch.unique_consecutive(x.detach(), return_inverse=True, return_counts=True)"), (1, 3, "keep.unique_consecutive()"),
    (1, 3, "torch.unique(x.detach())"), (1, 3, "torch.unique(x.detach(), return_inverse=True)"), (1, 3, "keep.unique()"),
    (1, 3, "torch.unique(keep.transpose(0, -1), return_counts=True)"), (1, 3, "keep.unique(return_inverse=True)"),
    (1, 3, "ids.to(torch.uint8).unique(return_inverse=True)"),
    (1, 3, "x.nanmedian()"), (1, 3, "torch.nanmedian(x, dim=0)[0]"), (1, 3, "x.nanmedian(dim=-1, keepdim=True)[0]"),
    *[(1, 1, f'torch.{name}_indices({sizes}, device="cuda")') for name in ("tril", "triu")
      for sizes in ("4, 5", "7, 3, 1", "3, 8, -1", "40, 40", "2, 3, offset=-3")],
    (1, 3, "(x * 2.0).nan_to_num_()"),
    (1, 3, "(x * 2.0).index_put((line,), w.narrow(0, 0, 1) * 3.0)"),
    (1, 3, "(x * 2.0).addcdiv_(x, w, value=0.5)"), (1, 3, "(x * 2.0).addcdiv_(w, w)"),
    *[(1, 3, f"torch.dist(x, w{p})") for p in ("", ", p=1", ', p=float("inf")')],
    *[(1, 3, f"torch.{name}(ids, {other})") for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift")
      for other in ("ids.int()", "2")], (1, 3, "ids.bitwise_not()"), (1, 3, "torch.gcd(ids, ids.int())"), (1, 3, "ids.lcm(ids)"),
    *[(1, 3, f"torch.norm(x, {p}{more})") for p in ("3", "1.5", "0.5", '-float("inf")')
      for more in ("", ", dim=0", ", dim=-1, keepdim=True")],
    *[(2, 2, f"(x @ w.transpose(0, 1)).addmm_(x, w.transpose(0, 1){more})") for more in ("", ", beta=0.5, alpha=2.0")],
    (2, 2, "(x @ w.select(0, 0)).addmv_(x, w.select(0, 0))"), (2, 2, "(x * 2.0).addr_(w.select(1, 0), x.select(0, 0))"),
    (3, 3, "torch.bmm(x, w.transpose(1, 2)).baddbmm_(x, w.transpose(1, 2), beta=0.5)"),
    *[(3, 3, f"torch.addbmm(x.select(0, 0).select(1, 0).unsqueeze(1), x, w.transpose(1, 2){more})") for more in ("", ", beta=0.5, alpha=2.0")],
    *[(3, 3, f'F.interpolate(x, {size}, mode="{mode}")') for size in ("size=7", "scale_factor=2.0", "size=1") for mode in ("linear", "nearest", "area")],
    *[(1, 3, f'x.index_reduce(0, line, w.narrow(0, 0, 1), "{reduce}"{more})') for reduce in ("prod", "mean", "amax", "amin")
      for more in ("", ", include_self=False")], (1, 3, '(x * 2.0).index_reduce_(0, line, w.narrow(0, 0, 1), "amax")'),
    (2, 2, 'torch.cdist(x.float(), w.float().unsqueeze(0))'), (3, 3, 'torch.cdist(x.float(), w.float().select(0, 0), p=1.0)'),
]

FURTHER_OF_ONE_SHAPE = ("addmm_", "bmm", "cdist", "addmv", "addr", "addcdiv_", "mv(", "sorted", "bincount", "index", "scatter", "stack", "cartesian", "block_diag", "inner", "vdot", "tensordot")
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
