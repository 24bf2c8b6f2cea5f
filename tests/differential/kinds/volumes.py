"""Convolutions, pooling and norms of volumes."""
from random_program import LAYOUTS, Program, options_of

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
