"""Random programs with attention and encoders in evaluation, where PyTorch has kernels of its own."""
from random_program import Program

MODULES = ("MultiheadAttention", "TransformerEncoderLayer", "TransformerEncoder")


class Sizes:
    def __init__(self, rng):
        self.heads = rng.choice((1, 2, 2, 2, 3, 4))
        self.width = self.heads * rng.choice((2, 4, 8, 8, 16, 32, 5, 20, 72, 64))
        self.batch = rng.choice((1, 2, 2, 3))
        self.length = rng.choice((1, 2, 5, 8, 8, 16, 33))
        if rng.random() < 0.05:
            # Rows that one warp does not keep.
            self.batch, self.length = 1, rng.choice((1024, 1030, 2050))


def module_text(rng, name, sizes, options):
    texts = ["" if rng.random() < 0.1 else "batch_first=True", "bias=False" if rng.random() < 0.1 else "", options]
    if name == "MultiheadAttention":
        texts.insert(0, rng.choice(("", "", "dropout=0.1")))
        sides = f"{sizes.width}, {sizes.heads}"
    else:
        texts += [rng.choice(("", 'activation="gelu"')), rng.choice(("", "", "norm_first=True"))]
        sides = f"{sizes.width}, {sizes.heads}, {rng.choice((1, 8, 16, 24, 64))}"
    layer = "MultiheadAttention" if name == "MultiheadAttention" else "TransformerEncoderLayer"
    return f"nn.{layer}({', '.join([sides, *[text for text in texts if text]])})"


def add_module(program, name, sizes, options, dtype):
    rng = program.rng
    is_moved = rng.random() < 0.3
    text = module_text(rng, name, sizes, dtype if is_moved else options)
    if name == "TransformerEncoder":
        program.add(f"layer = {text}")
        texts = [rng.choice(("1", "2")), rng.choice(("", "", "enable_nested_tensor=False"))]
        if rng.random() < 0.3:
            texts.insert(1, f"norm=nn.LayerNorm({sizes.width}{', ' + dtype if dtype else ''})")
            is_moved = True
        text = f"nn.TransformerEncoder(layer, {', '.join(part for part in texts if part)})"
    program.add(f"m = {text}" + ('.to("cuda")' if is_moved else ""))
    return "batch_first" in program.lines[-2 if name == "TransformerEncoder" else -1]


def add_masks(program, sizes, options):
    """The masks that a call gets: which of them there are."""
    rng, length = program.rng, sizes.length
    has = {"mask": rng.random() < 0.4, "pad": rng.random() < 0.5}
    if has["mask"]:
        square = f"{length}, {length}"
        program.add("mask = " + rng.choice((
            f'torch.triu(torch.ones({square}, dtype=torch.bool, device="cuda"), diagonal=1)',
            f'torch.triu(torch.full(({square}), float("-inf"), {options}), diagonal=1)',
            f'torch.zeros({sizes.batch * sizes.heads}, {square}, dtype=torch.bool, device="cuda")',
            f"torch.zeros({square}, {options})")))
    if has["pad"]:
        rows = f"{sizes.batch}, {length}"
        starts = [rng.randint(1, length) for _ in range(sizes.batch)]
        listed = [[place >= start for place in range(length)] for start in starts]
        program.add("pad = " + rng.choice((
            f'torch.zeros({rows}, dtype=torch.bool, device="cuda")', f"torch.zeros({rows}, {options})",
            f'torch.tensor({listed}, device="cuda")' if length <= 16 else
            f'torch.ones({rows}, dtype=torch.bool, device="cuda")')))
    return has


def call_of(rng, name, has):
    """The text of a call, and whether it gives weights."""
    masks = {"mask": "attn_mask", "pad": "key_padding_mask"}
    if name != "MultiheadAttention":
        masks = {"mask": "mask" if name == "TransformerEncoder" else "src_mask", "pad": "src_key_padding_mask"}
    texts = [f"{masks[key]}={key}" for key in ("mask", "pad") if has[key]]
    if has["mask"] and rng.random() < 0.3:
        texts.append(f"is_causal={rng.choice((True, True, False))}")
    if name != "MultiheadAttention":
        return f"y = m({', '.join(['x', *texts])})", False
    has_weights = rng.random() < 0.5
    texts += [] if has_weights else ["need_weights=False"]
    if has_weights:
        texts += rng.choice(([], ["average_attn_weights=False"]))
    given = rng.choice(("x, x, x", "x, x, x", "x, x, x", "x, k, k", "x, k, x"))
    call = f"m({', '.join([given, *texts])})"
    return (f"y, w = {call}", True) if has_weights else (f"y = {call}[0]", False)


def encoder_program(rng):
    """Attention, layers and encoders in evaluation: any masks, with and without a graph."""
    program = Program(rng)
    name, sizes = rng.choice(MODULES), Sizes(rng)
    dtype = rng.choice(("", "", "dtype=torch.float16", "dtype=torch.bfloat16", "dtype=torch.float64"))
    options = ', '.join(text for text in ('device="cuda"', dtype) if text)
    is_batch_first = add_module(program, name, sizes, options, dtype)
    shape = [sizes.batch, sizes.length] if is_batch_first else [sizes.length, sizes.batch]
    layouts = ("plain", "plain", "plain", "transposed", "sliced", "view of view")
    program.tensor("x", [*shape, sizes.width], options, rng.choice(layouts))
    if name == "MultiheadAttention":
        program.add(f"k = torch.randn({', '.join(map(str, [*shape, sizes.width]))}, {options})")
    if rng.random() < 0.95:
        program.add("m.eval()")
    if rng.random() < 0.3:
        program.add("m.requires_grad_(False)")
    for _ in range(rng.randint(1, 2)):
        call, has_weights = call_of(rng, name, add_masks(program, sizes, options))
        mode = rng.choice(("with torch.no_grad(): ",) * 5 + ("with torch.inference_mode(): ",) * 2 + ("",))
        if not mode and not dtype and rng.random() < 0.3:
            mode = 'with torch.autocast("cuda", dtype=torch.bfloat16): '
        program.add(mode + call)
        program.add("layout(y)")
        if has_weights:
            program.add("layout(w)")
    return program.lines
