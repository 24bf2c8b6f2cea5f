"""Gradients of gradients."""
from random_program import Program

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
