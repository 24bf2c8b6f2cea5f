"""Views, padding, and what changes the size of images."""
from kinds.ops import operands
from random_program import LAYOUTS, Program, options_of

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
