"""Programs on a GPU with little memory: failed requests that are caught, by any settings of the allocator."""
from random_program import Program

SETTINGS = ("max_split_size_mb:21", "max_split_size_mb:40", "roundup_power2_divisions:4", "garbage_collection_threshold:0.6",
            "garbage_collection_threshold:0.8,max_split_size_mb:30", "expandable_segments:True",
            "expandable_segments:True,garbage_collection_threshold:0.7")
LAYERS = ("nn.Linear({n}, {n})", "nn.ReLU()", "nn.GELU()", "nn.LayerNorm({n})", "nn.Dropout(0.1)", "nn.Tanh()",
          "nn.Linear({n}, {m}), nn.SiLU(), nn.Linear({m}, {n})")
IMAGE_LAYERS = ("nn.Conv2d(16, 16, 3, padding=1)", "nn.BatchNorm2d(16)", "nn.ReLU()", "nn.MaxPool2d(3, stride=1, padding=1)",
                "nn.GroupNorm(4, 16)", "nn.Dropout2d(0.1)", "nn.AvgPool2d(3, 1, 1)", "nn.InstanceNorm2d(16)",
                "nn.Sequential(nn.Conv2d(16, 8, 1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 16, 1))")
SEQUENCE_LAYERS = ("nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)", "nn.TransformerEncoderLayer(64, 2, 256, 0.0, norm_first=True)",
                   "nn.LayerNorm(64)", "nn.Linear(64, 64)", "nn.GELU()")
CALLS = ("F.relu(h)", "F.gelu(h)", "F.dropout(h, 0.2)", "F.softmax(h * 2.0, dim=-1)", "F.layer_norm(h, ({n},))", "h * torch.sigmoid(h)",
         "h + x", "F.silu(h) + h", "torch.tanh(h @ w)", "F.relu(h @ w.t())", "F.normalize(h, dim=1)", "F.log_softmax(h, dim=1)",
         "F.leaky_relu(h + 1.0)", 'torch.einsum("ij,jk->ik", h * 2.0, w)', "F.glu(torch.cat([h, h], dim=1))", "F.linear(h, w)",
         "F.hardtanh(F.elu(h))", "F.softplus(h)")
OPTIMIZERS = ("SGD(model.parameters(), lr=0.1)", "SGD(model.parameters(), lr=0.1, momentum=0.9)", "Adam(model.parameters())",
              "AdamW(model.parameters(), foreach=False)", "RMSprop(model.parameters())")
RECOVERIES = ("torch.cuda.empty_cache()", "model.zero_grad()", "x = None", "y = None", "mark(str(error))",
              "model.zero_grad(set_to_none=False)", "kept = []")


def forward(rng):
    """Statements that end in a loss."""
    way = rng.random()
    if way < 0.15:
        return ["with torch.no_grad(): y = model(x)"]
    if way < 0.3:
        return ['with torch.autocast("cuda", dtype=torch.bfloat16): y = model(x)', "y.float().pow(2).mean().backward()"]
    if way < 0.4:
        return ["from torch.utils.checkpoint import checkpoint", "y = checkpoint(model, x, use_reentrant=False)",
                "y.sum().backward()"]
    if way < 0.5:
        return ["y = model(x)", "kept.append(y)"]
    return ["y = model(x)", rng.choice(("y.sum().backward()", "y.pow(2).mean().backward()"))]


def model_of_rows(rng):
    width = rng.choice((256, 300, 512, 1000))
    layers = ", ".join(rng.choice(LAYERS) for _ in range(rng.randint(1, 5)))
    layers = layers.format(n=width, m=rng.choice((64, 2 * width, 4 * width)))
    return f"nn.Linear({width}, {width}), {layers}", str(width)


def model_of_images(rng):
    layers = ", ".join(rng.choice(IMAGE_LAYERS) for _ in range(rng.randint(1, 5)))
    return f"nn.Conv2d(3, 16, 3, padding=1), {layers}", "3, 16, 16"


def model_of_sequences(rng):
    layers = ", ".join(rng.choice(SEQUENCE_LAYERS) for _ in range(rng.randint(1, 3)))
    return f"nn.Linear(20, 64), {layers}", "10, 20"


def function_of_rows(rng, width):
    """`model`, a function of the program's own, of functions and operators of the library."""
    lines = [f'w = torch.randn({width}, {width}, device="cuda", requires_grad=True)', "def model(x):\n    h = x @ w"]
    for _ in range(rng.randint(2, 6)):
        lines[-1] += "\n    h = " + rng.choice(CALLS).format(n=width)
    lines[-1] += "\n    return h"
    return lines


def failing_program(rng):
    """Batches of any size, of which some do not fit."""
    program = Program(rng)
    settings = rng.choice(SETTINGS) if rng.random() < 0.5 else None
    if settings:
        program.add(f'torch.cuda.memory._set_allocator_settings("{settings}")')
    program.add(f"torch.cuda.set_per_process_memory_fraction({rng.choice((0.001, 0.0012, 0.0015, 0.002, 0.003))})")
    is_function = rng.random() < 0.25
    if is_function:
        shape = str(rng.choice((256, 300, 512)))
        program.lines += function_of_rows(rng, shape)
    else:
        layers, shape = rng.choice((model_of_rows, model_of_rows, model_of_images, model_of_sequences))(rng)
        program.add(f'model = nn.Sequential({layers}).to("cuda")')
    has_steps = not is_function and rng.random() < 0.5
    recoveries = [line for line in RECOVERIES if not is_function or "model" not in line]
    if has_steps:
        program.add(f"opt = torch.optim.{rng.choice(OPTIMIZERS)}")
    program.add("kept = []")
    program.add("x = None")  # in the order in which they go at the end
    program.add("y = None")
    for _ in range(rng.randint(2, 6)):
        batch = rng.choice((64, 500, 2000, 8000, 20000, 50000, 100000))
        body = [f'x = torch.randn({batch}, {shape}, device="cuda")', *forward(rng)]
        if has_steps:
            body.append("opt.step()")
        # The thread of a pass that failed lets the error go a moment after it is seen here.
        handler = ['mark("failed")', *rng.sample(recoveries, rng.randint(0, 2))]
        program.attempt(body, handler)
        program.add('mark("caught")')
        after = rng.random()
        if after < 0.3:
            program.add("torch.cuda.empty_cache()")
        elif after < 0.5:
            program.add(rng.choice(("x = None", "y = None", "kept = []", "w.grad = None" if is_function else "model.zero_grad()")))
        program.add('mark("tried")')
    return program.lines
