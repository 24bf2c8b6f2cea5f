"""One module of the library and its gradient, with cuDNN and without."""
from random_program import LAYOUTS, Program, options_of

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
