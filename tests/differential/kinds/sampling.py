"""Windows, grids, adaptive maxima, moved pixels."""
from random_program import LAYOUTS, Program, options_of

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
